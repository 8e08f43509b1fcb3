// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/debugger_layout.hpp"

#include "layout/debugger/trial_paths.hpp"
#include "text/mapped.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <future>
#include <utility>

namespace smd::detail::layout {

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
      : storage_(storage), request_(request), before_(before), listing_(listing), open_(open) {}

  void read(Found& found) {
    settle_newest();
    const std::vector<StepPart> wanted = wanted_files();
    listing_.failures.clear();
    if (wanted.empty()) {
      listing_.half_written.clear();
    } else {
      found.loaded = load_steps(storage_, listing_, wanted, request_.jobs, &request_, open_);
      std::vector<StepPart> read = mapped(found.loaded.rows, [](const LoadedSteps::Row& row) { return row.row.file; });
      sort_if_needed(read);
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
      if (const std::optional<std::size_t> count = range.newest; count && *count > 0) {
        const StepCounts steps = count_steps(*listing_.named);
        range =
            *count >= steps.size() ? StepRange() : StepRange{.first = GlobalStep(steps[steps.size() - *count].first)};
      }
    }
  }

  /// Returns the files in range that were not read. If the ranges are those of the look before, these are the new files
  /// and those that failed.
  [[nodiscard]] std::vector<StepPart> wanted_files() const {
    const bool first = before_ == nullptr;
    const bool everything = takes_all(ranges_);
    // Each new step may change which steps are the oldest.
    const bool counts = !everything && std::ranges::any_of(ranges_, [](const StepRange& range) {
      return range.newest || range.oldest;
    });
    const RangeFilter filter(ranges_, counts ? count_steps(*listing_.named) : StepCounts());
    std::vector<StepPart> wanted;
    if (first || request_.ranges_changed || counts) {
      for (const StepPart& file : listing_.named->files) {
        if ((everything || filter.holds(file.step)) && (first || !listing_.named->was_read(file))) {
          wanted.push_back(file);
        }
      }
      return wanted;
    }
    std::ranges::transform(before_->failures, std::back_inserter(wanted), &Failure::file);
    const auto failed = static_cast<std::ptrdiff_t>(wanted.size());
    std::ranges::copy_if(listing_.named->fresh, std::back_inserter(wanted),
                         [&](const StepPart& file) { return everything || filter.holds(file.step); });
    const auto order = [&](const StepPart& a, const StepPart& b) { return listing_.before(a, b); };
    std::inplace_merge(wanted.begin(), wanted.begin() + failed, wanted.end(), order);
    std::ranges::copy_if(listing_.replaced, std::back_inserter(wanted),
                         [&](const StepPart& file) { return listing_.named->was_read(file); });
    sort_each_once(wanted, order);
    return wanted;
  }

  [[nodiscard]] bool unread_before(const StepPart& file) const {
    return before_ != nullptr && std::ranges::any_of(before_->failures, [&](const Failure& other) {
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
        failure.problem.unfinished = true;
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
  std::vector<StepRange> ranges_{request_.ranges.begin(), request_.ranges.end()};
};

/// Casts a listing of this layout, which makes no other type.
const DebuggerListing& own(const Listing& listing) { return static_cast<const DebuggerListing&>(listing); }

class DebuggerLayout final : public Layout {
 public:
  Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                      std::shared_ptr<const CollectionsInfo> collections) const override {
    const auto* const earlier = static_cast<const DebuggerListing*>(before);
    const std::optional<std::int64_t> since = earlier != nullptr && !earlier->ended && storage.remote()
                                                  ? first_open_step(*earlier, *collections, request.incomplete_steps)
                                                  : std::nullopt;
    const auto read = [&] { return read_collections(storage, std::move(collections), request.half_written); };
    // Concurrently on a remote store, to save a round trip; if no thread can be started, it is deferred until `get`.
    std::future<std::shared_ptr<const CollectionsInfo>> reading;
    if (storage.remote() && earlier == nullptr) {
      reading = std::async(std::launch::async | std::launch::deferred, read);
    }
    OpenFolder open;
    auto listed = list_index(storage, earlier, since, request.now, request.jobs, open);
    if (listed && since && listed->ended) {
      // List everything once, for steps that came late before the end.
      listed = list_index(storage, earlier, std::nullopt, request.now, request.jobs, open);
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
      Look(storage, request, earlier, *listing, open).read(found);
    }
    return found;
  }
  bool ended(storage::Storage& storage) const override { return storage.exists(end_marker); }
  std::string_view collections_place() const noexcept override { return collections_folder; }
  std::span<const std::string_view> folders() const noexcept override {
    static constexpr std::array<std::string_view, 3> all = {index_folder, events_folder, "collections"};
    return all;
  }
  storage::WatchScope watched() const override { return {{index_folder, "collections"}}; }
  void check_names(storage::Storage& storage, const Listing& /*listing*/, const std::unordered_set<std::string>& used,
                   const std::function<void(Problem)>& report) const override {
    check_trial_names(storage, used, report);
  }
  LoadedSteps load(storage::Storage& storage, const Listing& listing, std::span<const StepPart> files,
                   unsigned jobs) const override {
    return load_steps(storage, own(listing), files, jobs, nullptr, {});
  }
  std::string event_path(const Listing& listing, const StepPart& file) const override {
    return layout::event_path(file.step, own(listing).worker_parts[file.worker]);
  }
  std::optional<std::pair<std::int64_t, std::uint32_t>> step_of_path(const Listing& listing,
                                                                     std::string_view path) const override {
    const auto name = parse_event_path(path);
    const std::uint32_t worker = name ? own(listing).worker_parts.find(name->worker_part) : no_id;
    return worker == no_id ? std::nullopt : std::optional(std::pair(name->step, worker));
  }
};

}  // namespace

std::unique_ptr<Layout> debugger_layout(const Opening& /*what*/) { return std::make_unique<DebuggerLayout>(); }

std::optional<Held> holds_debugger_trial(FolderWalk& folder) {
  static constexpr std::array<std::string_view, 4> own = {"collections", index_folder, events_folder, "tensorboard"};
  // Programs have folders of these names too. In a trial, they hold folders with numbers.
  const auto holds_numbers = [&](std::string_view name, std::size_t digits) {
    const auto is_number = [&](const storage::DirEntry& entry) {
      return entry.name.size() >= digits && entry.name.find_first_not_of("0123456789") == std::string::npos;
    };
    return folder.has_folder(name) && std::any_of(folder.below(name).begin(), folder.below(name).end(), is_number);
  };
  constexpr std::size_t thousands_digits = 9;
  constexpr std::size_t step_digits = 12;
  const bool named = folder.path().empty();  // by the user: a trial that may just begin
  const bool held = folder.has(end_marker) ||
                    (named ? folder.has("collections") : holds_numbers("collections", thousands_digits)) ||
                    (named ? folder.has(index_folder) : holds_numbers(index_folder, thousands_digits)) ||
                    holds_numbers(events_folder, step_digits);
  return held ? std::optional(Held{.own_folders = own}) : std::nullopt;
}

}  // namespace smd::detail::layout
