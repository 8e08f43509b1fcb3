// SPDX-License-Identifier: Apache-2.0
// The public view of a Snapshot.
#include <smd/snapshot.hpp>

#include "text/mapped.hpp"
#include "text/words.hpp"
#include "trial/trial_state.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace smd {

using detail::TrialAccess;
using detail::layout::StepRow;
using detail::trial::Snapshot;
using detail::trial::Step;
using detail::trial::TrialState;

/// Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) TrialSnapshot::Impl {
  std::shared_ptr<TrialState> trial;
  std::shared_ptr<const Snapshot> snapshot;

  [[nodiscard]] const detail::trial::Catalog& catalog() const noexcept { return snapshot->catalog; }
};

GlobalStep SavedRow::step() const noexcept { return GlobalStep(row_->file.step); }
Mode SavedRow::mode() const noexcept { return row_->mode; }
ModeStep SavedRow::mode_step() const noexcept { return ModeStep(row_->mode_step); }
std::uint32_t SavedRow::worker() const noexcept { return row_->file.worker; }
std::tuple<GlobalStep, std::uint32_t, std::uint64_t> SavedRow::id() const noexcept {
  return {GlobalStep(row_->file.step), row_->file.worker, row_->file.id};
}

TrialSnapshot TrialSnapshot::take(const Trial& trial) {
  const std::shared_ptr<TrialState> state = TrialAccess::shared_state(trial);
  return TrialSnapshot(std::make_shared<Impl>(Impl{state, state->snapshot()}));
}

TrialSnapshot TrialSnapshot::last(const Trial& trial) {
  const std::shared_ptr<TrialState> state = TrialAccess::shared_state(trial);
  return TrialSnapshot(std::make_shared<Impl>(Impl{state, state->current()}));
}

bool TrialSnapshot::operator==(const TrialSnapshot& other) const noexcept {
  return impl_->snapshot == other.impl_->snapshot;
}
std::uint64_t TrialSnapshot::generation() const noexcept { return impl_->snapshot->generation; }
const TrialOptions& TrialSnapshot::options() const noexcept { return impl_->trial->options(); }

std::size_t TrialSnapshot::tensors() const noexcept { return impl_->catalog().tensors().size(); }
std::string_view TrialSnapshot::tensor(std::uint32_t id) const noexcept { return impl_->catalog().tensors()[id]; }
std::optional<std::uint32_t> TrialSnapshot::find_tensor(std::string_view name) const noexcept {
  const std::uint32_t id = impl_->catalog().tensors().find(name);
  return id == detail::trial::no_id ? std::nullopt : std::optional(id);
}
std::span<const std::uint32_t> TrialSnapshot::tensors_by_name() const { return impl_->catalog().sorted_tensors(); }
std::span<const std::uint32_t> TrialSnapshot::tensor_ranks() const { return impl_->catalog().tensor_rank(); }
std::size_t TrialSnapshot::reductions() const noexcept { return impl_->catalog().reductions().size(); }
std::string_view TrialSnapshot::reduction(std::uint32_t id) const noexcept { return impl_->catalog().reductions()[id]; }
std::string_view TrialSnapshot::worker(std::uint32_t id) const noexcept {
  return *impl_->snapshot->listing->workers[id];
}

const std::vector<bool>& TrialSnapshot::saved() const { return saved_ever(*impl_->snapshot); }
std::shared_ptr<const std::map<std::string, Collection>> TrialSnapshot::collections() const {
  return {impl_->snapshot->collections, &*impl_->snapshot->collections->collections};
}
bool TrialSnapshot::has_collection(std::string_view name) const { return impl_->snapshot->collections->defines(name); }

std::optional<Problem> TrialSnapshot::missing_collections_files() const {
  return detail::trial::missing_collections_files(*impl_->snapshot, impl_->trial->layout().collections_place());
}

std::string TrialSnapshot::incomplete_text(const std::function<bool(const SnapshotStep&)>& counts) const {
  const Snapshot& snapshot = *impl_->snapshot;
  // Once the job is over, all steps count as complete; those after the last one that all workers wrote lack some.
  const bool over = snapshot.over();
  const std::optional<GlobalStep> last(over ? snapshot.all_wrote : snapshot.last_complete);
  const std::vector<SnapshotStep> later = this->steps(last);
  const auto counted = std::ranges::find_if(later, counts);
  if (counted == later.end() || (over && !last)) {
    return {};
  }
  // Once it is over, each mode is looked at by itself: often one worker alone evaluates.
  std::vector<SnapshotStep> steps = over ? this->steps({}, last) : std::vector<SnapshotStep>();
  std::erase_if(steps, [&](const SnapshotStep& step) { return step.mode != counted->mode; });
  const std::size_t first = steps.size();
  std::ranges::copy_if(later, std::back_inserter(steps), [&](const SnapshotStep& step) {
    return (over ? step.mode == counted->mode : !step.complete) && counts(step);
  });
  // A later look may find the newest step complete; after a while it hides what a dying job wrote last.
  constexpr auto patience = std::chrono::minutes(10);
  const auto is_new = [&](const detail::layout::StepRow& row) {
    const auto written = impl_->trial->storage().written_at(snapshot.listing->path(row.file));
    return !written || detail::storage::age_of(*written) < patience;
  };
  if (first == steps.size() ||
      (!over && first + 1 == steps.size() &&
       std::ranges::any_of(snapshot.rows_of(*snapshot.find(steps.back().step.value)), is_new))) {
    return {};
  }
  // By worker: the number of steps up to the last one that it wrote, and how many in a row it lacked before, at most.
  std::map<std::string_view, std::pair<std::size_t, std::size_t>> written;
  for (const std::string& worker : snapshot.collections->workers) {
    written.try_emplace(worker);
  }
  snapshot.for_each_sequence(
      [&](const detail::layout::RowSequence& sequence) { written.try_emplace(snapshot.worker(sequence.row)); });
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (const SavedRow row : rows(steps[i].step)) {
      auto& [end, gap] = written[worker(row.worker())];
      gap = std::max(gap, i - std::min(i, std::exchange(end, i + 1)));
    }
  }
  constexpr std::size_t few = 3;  // by which a worker may end earlier, beyond what it lacked in a row before
  std::vector<std::string_view> missing;
  bool some = false;
  for (const auto& [worker, of_worker] : written) {
    const auto& [end, gap] = of_worker;
    const std::size_t lacks = steps.size() - std::max(end, first);
    if (over ? end > 0 && lacks > gap + few : lacks + gap > 0) {
      missing.push_back(worker);
      some = some || end > first;
    }
  }
  const std::size_t needed = detail::layout::workers_needed(*snapshot.collections, *snapshot.listing);
  std::string why = "not all files could be read";
  if (!missing.empty()) {
    why = text::first_names(missing) + (missing.size() == 1 ? " has" : " have") + " not written " +
          (some ? "all of them" : "them");
  } else if (over) {
    return incomplete_text([&](const SnapshotStep& step) { return counts(step) && step.mode != counted->mode; });
  } else if (written.size() < needed) {  // the names of workers that never wrote anything are unknown
    why = "only " + std::to_string(written.size()) + " of " + std::to_string(needed) + " workers have written anything";
  }
  const auto number = [](const SnapshotStep& step) { return std::to_string(step.step.value); };
  return (first + 1 == steps.size() ? "step " + number(steps[first]) + " is"
                                    : "steps " + number(steps[first]) + " to " + number(steps.back()) + " are") +
         " not complete (" + why + ")";
}

std::vector<bool> TrialSnapshot::select(const TensorQuery& query, std::uint64_t* steps) const {
  detail::MatchBudget budget = steps == nullptr ? detail::MatchBudget() : detail::MatchBudget(*steps);
  try {
    std::vector<bool> selected(tensors());
    for (const std::uint32_t id : select_ids(*impl_->trial, *impl_->snapshot, query, budget)) {
      selected[id] = true;
    }
    if (steps != nullptr) {
      *steps = budget.left();
    }
    return selected;
  } catch (...) {
    if (steps != nullptr) {
      *steps = budget.left();
    }
    throw;
  }
}

std::vector<SnapshotStep> TrialSnapshot::steps(std::optional<GlobalStep> after, std::optional<GlobalStep> last) const {
  const Snapshot& snapshot = *impl_->snapshot;
  std::vector<SnapshotStep> steps;
  for (auto step = snapshot.after(after); step != snapshot.steps.end() && (!last || step->number <= last->value);
       ++step) {
    steps.push_back(snapshot.public_step(*step));
  }
  return steps;
}

std::size_t TrialSnapshot::num_steps_up_to(GlobalStep step) const noexcept {
  return impl_->snapshot->steps.rank(impl_->snapshot->after(step));
}

std::optional<GlobalStep> TrialSnapshot::same_up_to(const TrialSnapshot& later) const noexcept {
  const Snapshot& own = *impl_->snapshot;
  const Step* const last = own.steps.last_shared(later.impl_->snapshot->steps);
  if (last == nullptr || !(own.ended || own.passed)) {
    return std::nullopt;
  }
  return GlobalStep(own.ended ? last->number : std::min(last->number, *own.passed));
}

std::optional<SnapshotStep> TrialSnapshot::find_step(GlobalStep step) const noexcept {
  const Step* const found = impl_->snapshot->find(step.value);
  return found == nullptr ? std::nullopt : std::optional(impl_->snapshot->public_step(*found));
}

StepState TrialSnapshot::state(StepKey step) const { return impl_->snapshot->state(step); }

std::string_view TrialSnapshot::unavailable_tag(StepKey step) const {
  return detail::trial::unavailable_tag(*impl_->snapshot, step, impl_->snapshot->over());
}

void TrialSnapshot::require(StepKey step) const {
  if (const std::string_view tag = unavailable_tag(step); !tag.empty()) {
    detail::trial::throw_unavailable(*impl_->snapshot, step, tag);
  }
}

bool TrialSnapshot::ended() const noexcept { return impl_->snapshot->over(); }
std::size_t TrialSnapshot::listed_files() const noexcept {
  const Snapshot& snapshot = *impl_->snapshot;
  return snapshot.listing->named ? snapshot.listing->named->files.size()
                                 : snapshot.steps.size() + snapshot.left_out.size();
}

std::vector<SnapshotProblem> TrialSnapshot::problems() const {
  const Snapshot& snapshot = *impl_->snapshot;
  const auto placed = [](const Problem& problem) { return SnapshotProblem{problem}; };
  std::vector<SnapshotProblem> problems = detail::mapped(snapshot.listing->notes.kept(), placed);
  for (const detail::layout::LoadedSteps::Failure& failure : snapshot.failures) {
    problems.push_back({failure.problem, failure.file.worker});
    problems.back().problem.step = GlobalStep(failure.file.step);
  }
  std::ranges::transform(snapshot.notes.kept(), std::back_inserter(problems), placed);  // of files that were read
  for (const Problem& problem : snapshot.collections->problems) {
    problems.push_back({.problem = problem, .of_collections = true});
  }
  return problems;
}

std::vector<SavedRow> TrialSnapshot::rows(GlobalStep step) const {
  const Step* const found = impl_->snapshot->find(step.value);
  return detail::mapped(found == nullptr ? std::span<const StepRow>() : impl_->snapshot->rows_of(*found),
                        [](const StepRow& row) { return SavedRow(row); });
}

std::span<const SavedItem> TrialSnapshot::items(SavedRow row) const noexcept {
  return impl_->catalog().items(*row.row_).items;
}
std::span<const SavedItem> TrialSnapshot::items(SavedRow row, std::uint32_t tensor) const noexcept {
  return impl_->catalog().items(*row.row_).of(tensor);
}
std::size_t TrialSnapshot::records(SavedRow row) const noexcept { return impl_->catalog().payload(*row.row_).count; }

std::uint64_t TrialSnapshot::bytes(SavedRow row, std::uint32_t position) const noexcept {
  const detail::trial::Catalog& catalog = impl_->catalog();
  return catalog.bytes(catalog.payload(*row.row_), position);
}
std::string_view TrialSnapshot::stored_name(SavedRow row, std::uint32_t position) const noexcept {
  const detail::trial::Catalog& catalog = impl_->catalog();
  return catalog.stored_names()[catalog.items(*row.row_).names[position]];
}
const Shape* TrialSnapshot::saved_shape(SavedRow row, std::uint32_t tensor) const noexcept {
  const auto* const saved = impl_->catalog().shapes(*row.row_).of(tensor);
  return saved == nullptr ? nullptr : &saved->shape;
}
std::shared_ptr<const std::string> TrialSnapshot::file(SavedRow row) const {
  return impl_->trial->records().file(*impl_->snapshot, *row.row_);
}
Place TrialSnapshot::place(SavedRow row, std::uint32_t position, std::shared_ptr<const std::string> file) const {
  return impl_->trial->records().place(*impl_->snapshot, *row.row_, position, std::move(file));
}

std::vector<SavedRow> TrialSnapshot::series(std::uint32_t tensor, std::uint32_t worker, std::optional<Mode> mode,
                                            std::optional<GlobalStep> after) const {
  const Snapshot& snapshot = *impl_->snapshot;
  std::vector<SavedRow> series;
  for (auto step = snapshot.after(after); step != snapshot.steps.end() && snapshot.complete(step->number); ++step) {
    const StepRow* with = nullptr;
    for (const StepRow& row : snapshot.rows_of(*step)) {
      if (row.file.worker == worker && (!mode || row.mode == *mode) &&
          detail::trial::has_tensor(snapshot, row, tensor)) {
        with = &row;
      }
    }
    if (with != nullptr) {
      series.push_back(SavedRow(*with));
    }
  }
  return series;
}

}  // namespace smd
