// SPDX-License-Identifier: Apache-2.0
#include "trial/trial_state.hpp"

#include "base/parallel.hpp"
#include "layout/layout.hpp"
#include "text/escape.hpp"
#include "trial/opened_trial.hpp"
#include "trial/snapshot.hpp"

#include <smd/error.hpp>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <utility>

namespace smd::detail::trial {

namespace {

/// Returns the steps whose completeness may have changed.
std::vector<std::int64_t> touched_steps(const layout::Found& found, bool rows) {
  std::vector<std::int64_t> touched;
  if (!found.listing->named) {
    return touched;
  }
  if (rows) {
    for (const layout::LoadedSteps::Row& row : found.loaded.rows) {
      touched.push_back(row.row.file.step);
    }
    for (const layout::LoadedSteps::Failure& failure : found.loaded.failures) {
      touched.push_back(failure.file.step);
    }
  }
  for (const layout::StepPart& file : found.listing->named->fresh) {
    touched.push_back(file.step);
  }
  return touched;
}

/// Fixes a range that counts steps to certain steps. `steps`: all steps.
void fix_range(StepRange& range, const std::vector<std::int64_t>& steps) {
  if (const std::optional<std::size_t> newest = range.newest(); newest && *newest > 0) {
    range = *newest >= steps.size() ? StepRange()
                                    : StepRange::between(GlobalStep(steps[steps.size() - *newest]), std::nullopt);
  } else if (const std::optional<std::size_t> oldest = range.oldest();
             oldest && *oldest > 0 && *oldest <= steps.size() && steps[*oldest - 1] < INT64_MAX) {
    range = StepRange::between(GlobalStep(INT64_MIN), GlobalStep(steps[*oldest - 1] + 1));
  }
}

/// Ids of rows that an earlier look returned with other ids.
class SeenRows {
 public:
  explicit SeenRows(std::span<const layout::RowSequence> rows) {
    for (const layout::RowSequence& sequence : rows) {
      if (sequence.seen) {
        ids_.emplace_back(sequence.row.file.id, sequence.count);
      }
    }
    std::sort(ids_.begin(), ids_.end());
  }
  [[nodiscard]] bool has(std::uint64_t id) const noexcept {
    const auto after =
        std::partition_point(ids_.begin(), ids_.end(), [id](const auto& rows) { return rows.first <= id; });
    return after != ids_.begin() && id - std::prev(after)->first < std::prev(after)->second;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ids_;  // the first id, and the number of ids
};

/// Removes superseded values from rows.
class Superseder {
 public:
  explicit Superseder(std::span<const Superseding> later) {
    for (const Superseding& one : later) {
      by_series_[{one.worker, one.tensor}].push_back({one.before, one.from_step});
      tensors_.resize(std::max<std::size_t>(tensors_.size(), one.tensor + std::size_t{1}));
      tensors_[one.tensor] = true;
      first_step_ = std::min(first_step_, one.from_step);
    }
    for (auto& [series, events] : by_series_) {
      std::sort(events.begin(), events.end(), [](const Later& a, const Later& b) { return a.before < b.before; });
      for (std::size_t i = events.size(); i-- > 1;) {
        events[i - 1].from_step = std::min(events[i - 1].from_step, events[i].from_step);
      }
    }
  }

  /// Returns whether rows at that step may have superseded values.
  [[nodiscard]] bool reaches(std::int64_t step) const noexcept { return !by_series_.empty() && step >= first_step_; }

  /// Removes superseded values from `rows`. Returns whether there were any.
  bool apply(Catalog& catalog, std::vector<layout::StepRow>& rows) {
    bool changed = false;
    std::vector<std::uint32_t> stay;
    std::vector<std::uint32_t> go;
    std::erase_if(rows, [&](layout::StepRow& row) {
      if (!reaches(row.file.step)) {
        return false;
      }
      stay.clear();
      go.clear();
      std::uint32_t last = no_id;
      bool last_goes = false;
      for (const Item& item : catalog.items(row).items) {
        if (item.tensor != last) {
          last = item.tensor;
          last_goes = is_superseded(row, last);
          if (last_goes) {
            ++counts[last];
          }
        }
        (last_goes ? go : stay).push_back(item.position);
      }
      if (go.empty()) {
        return false;
      }
      changed = true;
      std::sort(go.begin(), go.end());
      superseded.push_back(stay.empty() ? row : catalog.part_of(row, go));
      superseded.back().superseded = true;
      if (stay.empty()) {
        return true;
      }
      std::sort(stay.begin(), stay.end());
      row = catalog.part_of(row, stay);
      return false;
    });
    return changed;
  }

  /// The removed values: rows with only superseded values, in the order of `rows`; and the number of values, by tensor.
  std::vector<layout::StepRow> superseded;
  std::map<std::uint32_t, std::uint64_t> counts;

 private:
  /// A later value of one worker and tensor. Sorted by arrival.
  struct Later {
    std::uint64_t before = 0;
    std::int64_t from_step = 0;  ///< The least of this value and all later ones.
  };

  [[nodiscard]] bool is_superseded(const layout::StepRow& row, std::uint32_t tensor) const noexcept {
    if (tensor >= tensors_.size() || !tensors_[tensor]) {
      return false;
    }
    const auto series = by_series_.find({row.file.worker, tensor});
    if (series == by_series_.end()) {
      return false;
    }
    const auto later = std::partition_point(series->second.begin(), series->second.end(),
                                            [&](const Later& event) { return event.before <= row.file.id; });
    return later != series->second.end() && later->from_step <= row.file.step;
  }

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<Later>> by_series_;
  std::vector<bool> tensors_;  // by id: whether the tensor may have superseded values
  std::int64_t first_step_ = INT64_MAX;
};

}  // namespace

SnapshotMaker::SnapshotMaker(storage::Storage& storage, const layout::Layout& layout, const LayoutTraits& traits,
                             const TrialOptions& options, const WaitLimits& limits)
    : storage_(storage),
      layout_(layout),
      traits_(traits),
      options_(options),
      limits_(limits),
      window_(options.incomplete_step_wait_window.value_or(limits.incomplete_steps)),
      ranges_{options.range_steps} {}

unsigned SnapshotMaker::jobs(unsigned wanted) const noexcept {
  const unsigned asked = wanted != 0 ? wanted : options_.jobs;
  return asked != 0          ? storage_.readers(asked)
         : storage_.remote() ? std::max(1u, storage_.parallelism())
                             : storage_.readers(default_jobs());
}

bool SnapshotMaker::add_range(const StepRange& range) {
  const std::lock_guard lock(making_);
  if (layout::takes_all(ranges_)) {
    return false;
  }
  ranges_.push_back(range);
  ranges_changed_ = true;
  return true;
}

std::shared_ptr<const Snapshot> SnapshotMaker::make_next(Time now, std::shared_ptr<const Snapshot> before) {
  try {
    return load(now, std::move(before));
  } catch (const std::bad_alloc&) {
    throw ReadError({ProblemKind::io, std::string(layout_.folders().front()), {}, "memory ran out"});
  }
}

/// Throws if the look was stopped: its result is incomplete, and the snapshot must stay unchanged.
void SnapshotMaker::require_not_stopped() const {
  if (stopped_ || (storage_.remote() && options_.remote.stop())) {
    throw ReadError({ProblemKind::stopped,
                     storage_.root(),
                     {},
                     storage_.remote() ? "the request was stopped before the server had answered"
                                       : "reading was stopped before all was read"});
  }
}

layout::Found SnapshotMaker::look(Time now, const Snapshot* before, bool everything) {
  const std::function<bool()> own = storage_.remote() ? options_.remote.stop : unless_short(options_.remote.stop);
  const std::function<bool()> stop = [&] {
    stopped_ = stopped_ || (own && own());
    return stopped_.load();
  };
  stopped_ = false;
  const layout::LookRequest request{.ranges = ranges_,
                                    .ranges_changed = ranges_changed_,
                                    .everything = everything,
                                    .incomplete_steps = window_,
                                    .as_it_stands = options_.as_it_stands,
                                    .half_written = limits_.half_written,
                                    .now = now,
                                    .jobs = jobs(),
                                    .progress = &options_.progress,
                                    .stop = &stop};
  auto found = layout_.look(storage_, request, before == nullptr ? nullptr : before->listing.get(),
                            before == nullptr ? nullptr : before->collections);
  require_not_stopped();
  if (!found) {
    throw ReadError(std::move(found.problem()));
  }
  return *std::move(found);
}

/// For a layout that returns all rows, whatever the ranges. Returns those in range. Ranges that count steps are fixed
/// to certain steps as soon as there are that many: the newest, and all later ones. `for_each_row` calls its argument
/// with the step of each new row, and with a function that makes the row.
template <class ForEachRow>
std::vector<layout::StepRow> SnapshotMaker::rows_in_range(const ForEachRow& for_each_row, Snapshot& snapshot) {
  const auto count_steps = [&] {
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [](const StepRange& range) { return range.newest() || range.oldest(); });
  };
  layout::StepCounts counts;
  if (count_steps()) {
    std::vector<std::int64_t> steps;
    std::transform(snapshot.steps.begin(), snapshot.steps.end(), std::back_inserter(steps),
                   [](const Step& step) { return step.number; });
    for_each_row([&](std::int64_t step, const auto&) { steps.push_back(step); });
    sort_each_once(steps);
    std::for_each(ranges_.begin(), ranges_.end(), [&](StepRange& range) { fix_range(range, steps); });
    if (count_steps()) {  // there are fewer
      std::transform(steps.begin(), steps.end(), std::back_inserter(counts),
                     [](std::int64_t step) { return std::pair(step, std::size_t{1}); });
    }
  }
  const layout::RangeFilter filter(ranges_, counts);
  std::vector<layout::StepRow> rows;
  std::vector<std::int64_t> left_out;
  for_each_row([&](std::int64_t step, const auto& row) {
    if (filter.holds(step)) {
      rows.push_back(row());
    } else {
      left_out.push_back(step);
    }
  });
  sort_each_once(left_out);
  snapshot.left_out.merge(std::move(left_out), std::less<>());
  return rows;
}

/// Removes superseded values from new rows, and from the snapshot.
void SnapshotMaker::supersede(Snapshot& snapshot, std::vector<layout::StepRow>& rows,
                              std::span<const Superseding> later) const {
  Superseder superseder(later);
  if (!snapshot.steps.empty() && superseder.reaches(snapshot.steps.last().number)) {
    std::vector<layout::StepRow> known;
    for (const Step& step : snapshot.steps) {
      const std::span<const layout::StepRow> of_step = snapshot.rows_of(step);
      known.insert(known.end(), of_step.begin(), of_step.end());
    }
    if (superseder.apply(snapshot.catalog, known)) {
      snapshot.steps = {};
      snapshot.claims = {};
      snapshot.row_of_path.reset();
      snapshot.add(std::move(known));
    }
  }
  superseder.apply(snapshot.catalog, rows);
  auto superseded = std::make_shared<Snapshot>();
  superseded->listing = snapshot.listing;
  superseded->collections = snapshot.collections;
  superseded->catalog = snapshot.catalog;
  superseded->counts = std::move(superseder.counts);
  superseded->several_count = true;
  if (snapshot.superseded) {
    superseded->steps = snapshot.superseded->steps;
    for (const auto& [tensor, count] : snapshot.superseded->counts) {
      superseded->counts[tensor] += count;
    }
  }
  if (options_.superseded == Superseded::only) {
    rows.clear();
  }
  if (options_.superseded != Superseded::left_out) {
    rows.insert(rows.end(), superseder.superseded.begin(), superseder.superseded.end());
  }
  superseded->add(std::move(superseder.superseded));
  snapshot.superseded = superseded->steps.empty() ? nullptr : std::move(superseded);
}

void SnapshotMaker::take(Snapshot& snapshot, layout::Found&& found, bool first) {
  snapshot.failures = std::move(found.loaded.failures);
  snapshot.notes.add(std::move(found.loaded.notes));
  const bool named = found.listing->named.has_value();
  if (found.loaded.rows.empty() && named) {
    return;
  }
  Catalog::Added added = snapshot.catalog.add(std::move(found.loaded));
  const SeenRows seen(added.rows);
  const std::uint64_t known = snapshot.last_arrival;
  const auto arrived = [&](const layout::StepPart& part) {
    snapshot.last_arrival = std::max(snapshot.last_arrival, part.id);
    if (!first && part.id > known && !seen.has(part.id)) {
      snapshot.arrivals.push_back(part);
    }
  };
  const bool supersedes = !added.superseding.empty() || options_.superseded == Superseded::only;
  if (!named && !supersedes && layout::takes_all(ranges_)) {
    for (const layout::RowSequence& rows : added.rows) {
      for (std::uint32_t i = first ? rows.count - 1 : 0; i < rows.count; ++i) {
        arrived(rows.nth(i).file);
      }
    }
    return snapshot.add(std::move(added.rows));
  }
  std::vector<layout::StepRow> rows;
  if (named || supersedes) {
    rows = layout::rows_of(added.rows);
    added.rows = {};
  }
  if (supersedes) {
    supersede(snapshot, rows, added.superseding);
  }
  if (!named) {
    // Sequences are not taken apart before it is known which few of their rows are wanted.
    const auto of_sequences = [&](const auto& visit) {
      for (const layout::RowSequence& sequence : added.rows) {
        for (std::uint32_t i = 0; i < sequence.count; ++i) {
          visit(sequence.step(i), [&] { return sequence.nth(i); });
        }
      }
    };
    const auto of_rows = [&, all = std::move(rows)](const auto& visit) {
      std::for_each(all.begin(), all.end(),
                    [&](const layout::StepRow& row) { visit(row.file.step, [&] { return row; }); });
    };
    rows = supersedes ? rows_in_range(of_rows, snapshot) : rows_in_range(of_sequences, snapshot);
    std::for_each(rows.begin(), rows.end(), [&](const layout::StepRow& row) { arrived(row.file); });
  }
  snapshot.add(std::move(rows));
}

/// Sets whether the snapshot is settled, and otherwise when to look again.
void SnapshotMaker::settle(Snapshot& snapshot, bool news, Time now) {
  if (!snapshot.ended) {
    quiet_since_.reset();
    return;
  }
  if (!quiet_since_ || news) {
    quiet_since_ = now;
  } else {
    snapshot.settled = now - *quiet_since_ >= limits_.end_delay;
  }
  if (!snapshot.settled) {
    const Time believed = *quiet_since_ + limits_.end_delay;
    snapshot.due = std::min(snapshot.due.value_or(believed), believed);
  }
}

std::shared_ptr<Snapshot> SnapshotMaker::load(Time now, std::shared_ptr<const Snapshot> before) {
  const std::uint64_t generation = storage_.generation();
  if (before && before->generation != generation) {
    before = nullptr;  // another directory took the trial's place
    quiet_since_.reset();
  }
  // If steps are not known by names, a further range needs all rows. So do superseded values: the snapshot before does
  // not have the others.
  const bool everything =
      before && (ranges_changed_ || options_.superseded != Superseded::left_out) && !before->listing->named;
  layout::Found found = look(now, before.get(), everything);
  if (everything) {
    found.afresh = true;
  }
  require_not_stopped();
  if (const layout::CollectionsInfo& collections = *found.collections; !collections.found) {
    if (!collections.problems.empty() && collections.problems.front().kind != ProblemKind::note) {
      throw ReadError(collections.problems.front());
    }
    throw_missing_collections();
  }
  auto next = before && !found.afresh ? std::make_shared<Snapshot>(*before) : std::make_shared<Snapshot>();
  if (before && found.afresh) {
    next->catalog = before->catalog;  // keeps ids, and views of names valid
    next->arrivals = before->arrivals;
    next->last_arrival = before->last_arrival;
  }
  next->generation = generation;
  next->listing = found.listing;
  next->collections = found.collections;
  next->ended = found.listing->ended || (options_.as_it_stands && !traits_.marks_steps);
  next->several_count = options_.superseded != Superseded::left_out;
  next->settled = false;
  next->due = found.due;
  if (found.listing->named) {
    ranges_ = std::move(found.ranges);
  }
  const bool news = found.news;
  const bool afresh = before == nullptr || ranges_changed_ || found.afresh;
  std::vector<std::int64_t> touched = touched_steps(found, before != nullptr);
  take(*next, std::move(found), before == nullptr);
  find_last_complete(*next, afresh ? std::nullopt : std::optional(std::move(touched)), window_,
                     [&](std::span<const layout::StepPart> files) {
                       return layout_.load(storage_, *next->listing, files, storage_.remote() ? jobs() : 1);
                     });
  settle(*next, news, now);
  require_not_stopped();
  if (options_.strict) {
    for (const auto& failure : next->failures) {
      if (failure.problem.kind == ProblemKind::damaged) {
        throw IndexReaderException(failure.problem);
      }
    }
  }
  ranges_changed_ = false;
  return next;
}

void SnapshotMaker::throw_missing_collections() const {
  const bool ended = layout_.ended(storage_);
  throw MissingCollectionFiles("'" + printable(storage_.root()) + "' has no collection files " +
                                   what_lies_in(storage_) +
                                   (ended ? "; the job has ended: nothing was saved, check the hook configuration"
                                          : "; wait for them with smd-wait, or check the path"),
                               storage_.root(), ended);
}

}  // namespace smd::detail::trial
