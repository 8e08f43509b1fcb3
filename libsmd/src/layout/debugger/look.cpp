// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/look.hpp"

#include "layout/debugger/list_index.hpp"
#include "layout/debugger/load_steps.hpp"
#include "layout/debugger/read_collections.hpp"
#include "layout/debugger/trial_paths.hpp"
#include "layout/range_filter.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <iterator>
#include <utility>

namespace smd::detail::layout {

// Chooses the index files that a look reads, and records the failures.

namespace {

using Failure = LoadedSteps::Failure;

/// Returns the first step that may have new files: the oldest of the `incomplete_steps` newest steps that lacks a
/// worker's file, else the newest step. Nullopt if there are no steps.
std::optional<std::int64_t> first_open_step(const DebuggerListing& listing, const CollectionsInfo& collections,
                                            std::size_t incomplete_steps) {
  const StepCounts listed = count_steps(*listing.named);
  if (listed.empty()) {
    return std::nullopt;
  }
  const std::size_t needed = workers_needed(collections, listing);
  const std::size_t newest = std::min(listed.size(), std::max<std::size_t>(incomplete_steps, 1));
  const auto open = std::find_if(listed.end() - static_cast<std::ptrdiff_t>(newest), listed.end(),
                                 [needed](const auto& step) { return step.second < needed; });
  return open == listed.end() ? listed.back().first : open->first;
}

/// One look: reads the step files in range that no earlier look has read. Files that failed before are tried again.
class Look {
 public:
  Look(storage::Storage& storage, const LookRequest& request, const DebuggerListing* before, DebuggerListing& listing,
       const OpenFolder& open)
      : storage_(storage),
        request_(request),
        before_(before),
        listing_(listing),
        open_(open),
        ranges_(request.ranges.begin(), request.ranges.end()) {}

  void read(Found& found) {
    settle_newest();
    const std::vector<StepPart> wanted = wanted_files();
    listing_.failures.clear();
    if (wanted.empty()) {
      listing_.half_written.clear();
    } else {
      found.loaded = load_steps(storage_, listing_, wanted, request_.jobs, &request_, open_);
      std::vector<StepPart> read;
      read.reserve(found.loaded.rows.size());
      for (const LoadedSteps::Row& row : found.loaded.rows) {
        read.push_back(row.row.file);
      }
      if (!std::is_sorted(read.begin(), read.end())) {
        std::sort(read.begin(), read.end());
      }
      listing_.named->read.merge(std::move(read), std::less<>());
      note_failures(found.loaded.failures);
      listing_.failures = found.loaded.failures;
    }
    for (const auto& [file, half] : listing_.half_written) {
      if (const auto given_up = half.since + request_.half_written; given_up > request_.now) {
        found.due = std::min(found.due.value_or(given_up), given_up);
      }
    }
    found.ranges = std::move(ranges_);
  }

 private:
  /// Replaces ranges of the newest steps by all steps from the first of these on. Otherwise steps would be left out
  /// when more than that many appear between two looks.
  void settle_newest() {
    for (StepRange& range : ranges_) {
      if (const std::optional<std::size_t> count = range.newest(); count && *count > 0) {
        const StepCounts steps = count_steps(*listing_.named);
        range = *count >= steps.size()
                    ? StepRange()
                    : StepRange::between(GlobalStep(steps[steps.size() - *count].first), std::nullopt);
      }
    }
  }

  [[nodiscard]] bool was_read(const StepPart& file) const {
    const SortedChunks<StepPart>& read = listing_.named->read;
    const auto place = read.partition_point([&](const StepPart& other) { return other < file; });
    return place != read.end() && *place == file;
  }

  /// Returns the files in range that were not read. If the ranges are those of the look before, these are the new files
  /// and those that failed.
  [[nodiscard]] std::vector<StepPart> wanted_files() const {
    const bool first = before_ == nullptr;
    const bool everything = takes_all(ranges_);
    // Each new step may change which steps are the oldest.
    const bool counts = !everything && std::any_of(ranges_.begin(), ranges_.end(), [](const StepRange& range) {
      return range.newest() || range.oldest();
    });
    const RangeFilter filter(ranges_, counts ? count_steps(*listing_.named) : StepCounts());
    std::vector<StepPart> wanted;
    if (first || request_.ranges_changed || counts) {
      for (const StepPart& file : listing_.named->files) {
        if ((everything || filter.holds(file.step)) && (first || !was_read(file))) {
          wanted.push_back(file);
        }
      }
      return wanted;
    }
    for (const Failure& failure : before_->failures) {
      wanted.push_back(failure.file);
    }
    const auto failed = static_cast<std::ptrdiff_t>(wanted.size());
    for (const StepPart& file : listing_.named->fresh) {
      if (everything || filter.holds(file.step)) {
        wanted.push_back(file);
      }
    }
    std::inplace_merge(wanted.begin(), wanted.begin() + failed, wanted.end(),
                       [&](const StepPart& a, const StepPart& b) { return listing_.before(a, b); });
    return wanted;
  }

  [[nodiscard]] bool unread_before(const StepPart& file) const {
    return before_ != nullptr &&
           std::any_of(before_->failures.begin(), before_->failures.end(), [&](const Failure& other) {
             return other.file == file && other.problem.kind != ProblemKind::not_found;
           });
  }

  /// Records the failures. In a running job, the newest file of a worker may be half written: on S3, or by a copying
  /// tool.
  void note_failures(std::vector<Failure>& failures) {
    std::map<StepPart, HalfWritten> half_written;
    for (Failure& failure : failures) {
      // While a job runs, a removed file may be written again; so may one that could not be read before.
      if (failure.removed && (!listing_.ended || unread_before(failure.file))) {
        failure.problem.kind = listing_.ended ? ProblemKind::note : ProblemKind::not_yet;
        failure.problem.file = listing_.path(failure.file);
        failure.problem.text = "the index file was removed";
      }
      const bool may_grow = failure.file.step == listing_.newest_step[failure.file.worker] && !listing_.ended;
      if (failure.problem.kind == ProblemKind::damaged && may_grow) {
        const auto seen = listing_.half_written.find(failure.file);
        const bool same = seen != listing_.half_written.end() && seen->second.problem == failure.problem;
        const auto since = same ? seen->second.since : request_.now;
        half_written[failure.file] = {failure.problem, since};
        if (request_.now - since < request_.half_written) {
          failure.problem.kind = ProblemKind::not_yet;
        }
      }
    }
    listing_.half_written = std::move(half_written);
  }

  storage::Storage& storage_;
  const LookRequest& request_;
  const DebuggerListing* before_;
  DebuggerListing& listing_;
  const OpenFolder& open_;
  std::vector<StepRange> ranges_;
};

}  // namespace

Outcome<Found> look_at_trial(storage::Storage& storage, const LookRequest& request, const DebuggerListing* before,
                             std::shared_ptr<const CollectionsInfo> collections) {
  const std::optional<std::int64_t> since = before != nullptr && !before->ended && storage.remote()
                                                ? first_open_step(*before, *collections, request.incomplete_steps)
                                                : std::nullopt;
  const auto read = [&] { return read_collections(storage, std::move(collections)); };
  // Concurrently on a remote store, to save a round trip; if no thread can be started, it is deferred until `get`.
  std::future<std::shared_ptr<const CollectionsInfo>> reading;
  if (storage.remote() && before == nullptr) {
    reading = std::async(std::launch::async | std::launch::deferred, read);
  }
  OpenFolder open;
  auto listed = list_index(storage, before, since, request.now, request.jobs, open);
  if (listed && since && listed->ended) {
    // List everything once, for steps that came late before the end.
    listed = list_index(storage, before, std::nullopt, request.now, request.jobs, open);
  }
  if (!listed) {
    return std::move(listed.problem());
  }
  const auto listing = std::make_shared<DebuggerListing>(*std::move(listed));
  Found found;
  found.listing = listing;
  found.collections = reading.valid() ? reading.get() : read();
  found.news = !listing->named->fresh.empty();
  if (found.collections->found && !request.stopped()) {
    Look(storage, request, before, *listing, open).read(found);
  }
  return found;
}

DebuggerListing::DebuggerListing(const DebuggerListing* before) {
  if (before == nullptr) {
    named.emplace();
    return;
  }
  *this = DebuggerListing(*before);
  named->fresh.clear();
  notes = ProblemList(limits::problems_per_trial);
}

std::string DebuggerListing::path(const StepPart& file) const {
  std::string path(folders[folder_of(file)]);
  path.push_back('/');
  if (leaf_of(file) == no_id) {
    path.append(index_leaf(file.step, worker_parts[file.worker]));
  } else {
    path.append(leaves[leaf_of(file)]);
  }
  return path;
}

std::uint32_t DebuggerListing::worker_of(std::string_view worker_part) {
  const std::uint32_t id = worker_parts.add(worker_part);
  if (id == workers.size()) {
    add_worker(worker_name(worker_part));
  }
  return id;
}

void DebuggerListing::take_fresh() {
  rank_workers();
  std::vector<StepPart>& fresh = named->fresh;
  const auto order = [&](const StepPart& a, const StepPart& b) { return before(a, b); };
  if (!std::is_sorted(fresh.begin(), fresh.end(), order)) {
    std::sort(fresh.begin(), fresh.end(), order);
  }
  fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
  named->files.merge(fresh, order);
  newest_step.resize(workers.size(), INT64_MIN);
  for (const StepPart& file : fresh) {
    std::int64_t& newest = newest_step[file.worker];
    newest = std::max(newest, file.step);
  }
}

}  // namespace smd::detail::layout
