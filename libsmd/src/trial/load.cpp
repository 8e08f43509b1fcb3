// SPDX-License-Identifier: Apache-2.0
// Which index files a snapshot reads, and what became of them.
#include "trial/range_filter.hpp"
#include "trial/trial_state.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace smd::detail::trial {

/// The oldest of the newest steps that lacks a worker's file, else the newest step: from there on there may be news.
std::optional<std::int64_t> TrialState::first_open_step(const Snapshot& snapshot) const {
  const auto listed = listed_steps(*snapshot.listing);
  if (listed.empty()) {
    return std::nullopt;
  }
  const std::size_t needed = workers_needed(*snapshot.collections, *snapshot.listing);
  const std::size_t newest = std::min(listed.size(), std::max<std::size_t>(window_, 1));
  const auto open = std::find_if(listed.end() - static_cast<std::ptrdiff_t>(newest), listed.end(),
                                 [needed](const auto& step) { return step.second < needed; });
  return open == listed.end() ? listed.back().first : open->first;
}

/// Reads the step files in range that no earlier snapshot has read. Files that failed before are tried again. Returns
/// the steps of them all.
std::vector<std::int64_t> TrialState::load(Snapshot& snapshot, bool first) {
  const layout::Listing& listing = *snapshot.listing;
  settle_newest(listing);
  std::vector<layout::StepFile> wanted = wanted_files(snapshot, first);
  snapshot.failures.clear();
  if (wanted.empty()) {
    half_written_.clear();
    return {};
  }
  const auto now = clock().now();
  layout::LoadedSteps loaded = layout_->load(*storage_, listing, wanted, jobs(), options_.progress);
  std::vector<layout::StepFile> read;
  auto failure = loaded.failures.begin();  // in the order of `wanted`
  for (const layout::StepFile& file : wanted) {
    if (failure != loaded.failures.end() && failure->file == file) {
      ++failure;
    } else {
      read.push_back(file);
    }
  }
  if (!std::is_sorted(read.begin(), read.end())) {
    std::sort(read.begin(), read.end());
  }
  snapshot.read.merge(std::move(read), std::less<>());
  note_failures(snapshot, loaded, now);
  snapshot.notes.add(std::move(loaded.notes));
  snapshot.add(snapshot.catalog.add(std::move(loaded)));
  std::vector<std::int64_t> steps;
  if (!first) {
    std::transform(wanted.begin(), wanted.end(), std::back_inserter(steps),
                   [](const layout::StepFile& file) { return file.step; });
  }
  return steps;
}

/// Files in range that were not read: the new ones and those that failed, unless the ranges are others than before.
std::vector<layout::StepFile> TrialState::wanted_files(const Snapshot& snapshot, bool first) const {
  const layout::Listing& listing = *snapshot.listing;
  const bool everything = std::any_of(ranges_.begin(), ranges_.end(), [](const StepRange& range) {
    return !range.first() && !range.end() && !range.newest() && !range.oldest();
  });
  // Which the oldest are may change with each new one.
  const bool counts = !everything && std::any_of(ranges_.begin(), ranges_.end(), [](const StepRange& range) {
    return range.newest() || range.oldest();
  });
  const RangeFilter filter(ranges_, counts ? listed_steps(listing) : decltype(listed_steps(listing)){});
  std::vector<layout::StepFile> wanted;
  if (first || ranges_changed_ || counts) {
    for (const layout::StepFile& file : listing.files) {
      if ((everything || filter.holds(file.step)) && (first || !snapshot.was_read(file))) {
        wanted.push_back(file);
      }
    }
    return wanted;
  }
  for (const layout::LoadedSteps::Failure& failure : snapshot.failures) {
    wanted.push_back(failure.file);
  }
  const auto failed = static_cast<std::ptrdiff_t>(wanted.size());
  for (const layout::StepFile& file : listing.fresh) {
    if (everything || filter.holds(file.step)) {
      wanted.push_back(file);
    }
  }
  std::inplace_merge(wanted.begin(), wanted.begin() + failed, wanted.end(),
                     [&](const layout::StepFile& a, const layout::StepFile& b) { return listing.before(a, b); });
  return wanted;
}

/// The newest file of a worker in a running job may be half written: over S3, or by a copying tool.
void TrialState::note_failures(Snapshot& snapshot, layout::LoadedSteps& loaded,
                               std::chrono::steady_clock::time_point now) {
  const layout::Listing& listing = *snapshot.listing;
  if (loaded.failures.empty()) {
    half_written_.clear();
    return;
  }
  const auto unread_before = [before = current()](const layout::StepFile& file) {
    return before && std::any_of(before->failures.begin(), before->failures.end(),
                                 [&](const layout::LoadedSteps::Failure& other) {
                                   return other.file == file && other.problem.kind != ProblemKind::not_found;
                                 });
  };
  std::map<layout::StepFile, HalfWritten> half_written;
  for (layout::LoadedSteps::Failure& failure : loaded.failures) {
    // What is gone while a job runs may yet come anew; so may what could not be read before.
    if (failure.removed && (!listing.ended || unread_before(failure.file))) {
      failure.problem.kind = listing.ended ? ProblemKind::note : ProblemKind::not_yet;
      failure.problem.file = listing.path(failure.file);
      failure.problem.text = "the index file was removed";
    }
    const bool may_grow = failure.file.step == listing.newest_step[failure.file.worker] && !listing.ended;
    if (failure.problem.kind == ProblemKind::damaged && may_grow) {
      const auto seen = half_written_.find(failure.file);
      const bool same = seen != half_written_.end() && seen->second.problem == failure.problem;
      const auto since = same ? seen->second.since : now;
      half_written[failure.file] = {failure.problem, since};
      if (now - since < limits_.half_written) {
        failure.problem.kind = ProblemKind::not_yet;
      }
    }
    snapshot.failures.push_back(std::move(failure));
  }
  half_written_ = std::move(half_written);
}

/// From the first look on, the newest steps are those and all that come after them: else a step would be left out
/// whenever more than that many appear between two looks.
void TrialState::settle_newest(const layout::Listing& listing) {
  for (StepRange& range : ranges_) {
    if (const std::optional<std::size_t> count = range.newest(); count && *count > 0) {
      const auto steps = listed_steps(listing);
      range = *count >= steps.size() ? StepRange()
                                     : StepRange::between(GlobalStep(steps[steps.size() - *count].first), std::nullopt);
    }
  }
}

}  // namespace smd::detail::trial
