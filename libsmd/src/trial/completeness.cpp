// SPDX-License-Identifier: Apache-2.0
// Determines up to which step all workers have written.
#include "trial/snapshot.hpp"

#include <iterator>

namespace smd::detail::trial {

namespace {

/// Returns the files of one step, in order.
std::vector<layout::StepPart> files_at(const SortedChunks<layout::StepPart>& files, std::int64_t step) {
  std::vector<layout::StepPart> found;
  for (auto it = files.partition_point([step](const layout::StepPart& file) { return file.step < step; });
       it != files.end() && it->step == step; ++it) {
    found.push_back(*it);
  }
  return found;
}

/// Returns whether a step has files that were read and list nothing: such a step does not count.
bool lists_nothing(const Snapshot& snapshot, std::int64_t step) {
  return snapshot.find(step) == nullptr && !files_at(snapshot.listing->named->read, step).empty();
}

/// Returns the number of workers of rows or files that are sorted by worker. `file_of`: returns the file of one.
template <class Items, class FileOf>
std::size_t distinct_workers(const Items& items, const FileOf& file_of) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool same = i != 0 && std::invoke(file_of, items[i]).worker == std::invoke(file_of, items[i - 1]).worker;
    count += same ? 0 : 1;
  }
  return count;
}

/// Reads of step files that are out of range, to find which workers wrote them.
struct Probes {
  const Probe& probe;
  int done = 0;
  std::vector<std::int64_t> undecided = {};
};

/// Returns whether at least `needed` workers wrote a listed step. If that remains unknown, adds it to `undecided`.
bool wrote(const Snapshot& snapshot, std::int64_t step, std::size_t needed, Probes& probes) {
  constexpr int most_probes = 64;  // of steps out of range that turn out to be incomplete, for example damaged
  if (const Step* const known = snapshot.find(step)) {
    return distinct_workers(snapshot.rows_of(*known), &layout::StepRow::file) >= needed;
  }
  const std::vector<layout::StepPart> files = files_at(snapshot.listing->named->files, step);
  const bool failed = std::ranges::binary_search(
      snapshot.failures, step, {}, [](const layout::LoadedSteps::Failure& failure) { return failure.file.step; });
  if (failed || snapshot.listing->named->was_read(files.front())) {
    return false;  // in range, and found to list nothing
  }
  if (++probes.done <= most_probes) {
    std::vector<layout::RowSequence> rows = probes.probe(files).rows;
    std::erase_if(rows, [](const layout::RowSequence& of) { return of.row.payload == no_id; });
    const auto file_of = [](const layout::RowSequence& of) { return of.row.file; };
    if (distinct_workers(rows, file_of) >= needed) {
      return true;
    }
  }
  probes.undecided.push_back(step);
  return false;
}

/// Returns the newest step after `last` that `needed` workers wrote; else `last`. Searches from the end.
std::optional<std::int64_t> newest_by(const Snapshot& snapshot, std::size_t needed, std::optional<std::int64_t> last,
                                      Probes& probes) {
  const SortedChunks<layout::StepPart>& files = snapshot.listing->named->files;
  for (auto it = files.end(); it != files.begin();) {
    const std::int64_t step = std::prev(it)->step;
    if (last && step <= *last) {
      break;
    }
    it = files.partition_point([step](const layout::StepPart& file) { return file.step < step; });
    if (distinct_workers(files_at(files, step), std::identity()) >= needed && wrote(snapshot, step, needed, probes)) {
      return step;
    }
  }
  return last;
}

/// Finds the steps that wait for a worker, among all steps.
void find_waiting(Snapshot& snapshot, std::size_t needed, const Probe& probe) {
  Probes probes{probe};
  snapshot.all_wrote_by = needed;
  snapshot.all_wrote = newest_by(snapshot, needed, std::nullopt, probes);
  snapshot.undecided = std::move(probes.undecided);
  const SortedChunks<layout::StepPart>& files = snapshot.listing->named->files;
  std::vector<std::int64_t> waiting;
  for (auto it = files.partition_point(
           [&](const layout::StepPart& file) { return snapshot.all_wrote && file.step <= *snapshot.all_wrote; });
       it != files.end(); ++it) {
    if ((waiting.empty() || waiting.back() != it->step) && !lists_nothing(snapshot, it->step)) {
      waiting.push_back(it->step);
    }
  }
  snapshot.waiting = {};
  snapshot.waiting.merge(std::move(waiting), std::less<>());
}

/// Updates the steps that wait for a worker, by the steps that were touched. The cost is proportional to their number,
/// even if all steps wait for a worker that died.
void update_waiting(Snapshot& snapshot, std::vector<std::int64_t> touched, const Probe& probe) {
  const std::size_t needed = snapshot.all_wrote_by;
  touched.insert(touched.end(), snapshot.undecided.begin(), snapshot.undecided.end());
  sort_each_once(touched);
  Probes probes{probe};
  bool fewer = false;
  std::vector<std::int64_t> waiting;
  for (auto step = touched.rbegin(); step != touched.rend(); ++step) {
    if (snapshot.all_wrote && *step <= *snapshot.all_wrote) {
      break;
    }
    if (distinct_workers(files_at(snapshot.listing->named->files, *step), std::identity()) >= needed &&
        wrote(snapshot, *step, needed, probes)) {
      snapshot.all_wrote = *step;
      fewer = true;
      break;
    }
    if (lists_nothing(snapshot, *step)) {
      const auto place = snapshot.waiting.partition_point([&](std::int64_t other) { return other < *step; });
      fewer = fewer || (place != snapshot.waiting.end() && *place == *step);
    } else {
      waiting.push_back(*step);
    }
  }
  snapshot.undecided = std::move(probes.undecided);
  if (fewer) {
    const auto first = snapshot.waiting.partition_point(
        [&](std::int64_t step) { return snapshot.all_wrote && step <= *snapshot.all_wrote; });
    std::copy_if(first, snapshot.waiting.end(), std::back_inserter(waiting),
                 [&](std::int64_t step) { return !lists_nothing(snapshot, step); });
    snapshot.waiting = {};
  }
  sort_each_once(waiting);
  snapshot.waiting.merge(std::move(waiting), std::less<>());
}

}  // namespace

void find_last_complete(Snapshot& snapshot, std::optional<std::vector<std::int64_t>> touched, std::size_t window,
                        const Probe& probe) {
  if (!snapshot.listing->named) {  // steps are known only by reading: each known step is complete
    snapshot.all_wrote = snapshot.steps.empty() ? std::nullopt : std::optional(snapshot.steps.last().number);
    snapshot.passed = snapshot.last_complete = snapshot.all_wrote;
    if (!snapshot.left_out.empty()) {  // those out of range pass too: a wait for a later step is not idle
      snapshot.passed = std::max(snapshot.passed, std::optional(snapshot.left_out.last()));
    }
    return;
  }
  const std::size_t needed = layout::workers_needed(*snapshot.collections, *snapshot.listing);
  if (touched && snapshot.all_wrote_by == needed) {
    update_waiting(snapshot, *std::move(touched), probe);
  } else {
    find_waiting(snapshot, needed, probe);
  }
  const std::size_t passed = given_up(snapshot.waiting.size(), window);
  snapshot.passed = passed == 0 ? snapshot.all_wrote : snapshot.waiting.nth(passed - 1);
  Probes probes{probe};
  snapshot.last_complete = snapshot.ended ? newest_by(snapshot, 1, snapshot.passed, probes) : snapshot.passed;
}

std::size_t given_up(std::size_t waiting, std::size_t window) noexcept {
  if (waiting <= window) {
    return 0;
  }
  const std::size_t at_once = std::max<std::size_t>(window / 2, 1);
  return std::min(waiting, (waiting - window + at_once - 1) / at_once * at_once);
}

std::optional<Problem> missing_collections_files(const Snapshot& snapshot, std::string_view place) {
  if (!snapshot.collections->num_workers) {
    return std::nullopt;  // the number of workers is unknown
  }
  const std::int64_t expected = *snapshot.collections->num_workers;
  const auto there = static_cast<std::int64_t>(snapshot.collections->workers.size());
  const auto warning = [place](std::string text) {
    return Problem{ProblemKind::warning, std::string(place), {}, std::move(text)};
  };
  if (expected <= 0) {
    return warning("the collections name " + std::to_string(expected) +
                   " workers; steps count as complete when all workers that wrote anything wrote them");
  }
  const auto counted = [expected](std::int64_t workers) {
    return std::to_string(workers) + " of " + std::to_string(expected) + " workers " + (workers == 1 ? "has" : "have");
  };
  if (there < expected) {
    return warning(counted(there) + " a collections file" + (snapshot.ended ? "" : " so far") +
                   "; what is there is read");
  }
  const auto saved = static_cast<std::int64_t>(snapshot.listing->workers.size());
  if (saved == 0 || saved >= expected || !snapshot.ended) {  // steps of a running job wait for all
    return std::nullopt;
  }
  return make_problem(ProblemKind::remark,
                      counted(saved) + " index files: the others saved nothing, or their files are lost");
}

}  // namespace smd::detail::trial
