// SPDX-License-Identifier: Apache-2.0
#include "trial/trial_state.hpp"

#include <smd/last_written.hpp>
#include <smd/refresh.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace smd {

using detail::trial::Snapshot;
using detail::trial::Step;

namespace {

template <class T>
std::vector<std::string> texts(const T& views) {
  return {views.begin(), views.end()};
}

}  // namespace

Trial::Trial(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Trial::Trial(Trial&&) noexcept = default;
Trial& Trial::operator=(Trial&&) noexcept = default;
Trial::~Trial() = default;

Trial Trial::open(const std::string& path, const TrialOptions& options) {
  return Trial(std::make_shared<Impl>(path, options));
}

const std::string& Trial::name() const noexcept { return impl_->name(); }
const std::string& Trial::path() const noexcept { return impl_->path(); }
bool Trial::remote() const noexcept { return impl_->storage().remote(); }

std::vector<std::string> Trial::tensor_names(const TensorQuery& query) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  detail::MatchBudget budget;
  std::vector<std::uint32_t> ids = select_ids(*impl_, *snapshot, query, budget);
  const std::vector<std::uint32_t>& rank = snapshot->catalog.tensor_rank();
  std::sort(ids.begin(), ids.end(), [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
  std::vector<std::string> names;
  names.reserve(ids.size());
  for (const std::uint32_t id : ids) {
    names.emplace_back(snapshot->catalog.tensors()[id]);
  }
  return names;
}

std::vector<std::string> Trial::tensor_names_of(const Collection& collection, TensorQuery query) const {
  const bool own = collection.tensor_names.empty() && collection.include_regex.empty();
  if (own || this->collection(collection.name) == collection) {  // then invalid patterns are not errors
    query.collections.push_back(collection.name);
  } else {
    query.names.insert(query.names.end(), collection.tensor_names.begin(), collection.tensor_names.end());
    query.regex.insert(query.regex.end(), collection.include_regex.begin(), collection.include_regex.end());
  }
  return tensor_names(query);
}

bool Trial::has_tensor(std::string_view name) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot_or_last();
  return was_saved(*snapshot, snapshot->catalog.tensors().find(name));
}

std::vector<GlobalStep> Trial::steps(bool show_incomplete_steps) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  std::vector<GlobalStep> steps;
  steps.reserve(snapshot->steps.size());
  snapshot->for_each_sequence([&](const detail::layout::RowSequence& rows) {
    for (std::uint32_t i = 0; i < rows.count; ++i) {
      const GlobalStep step(rows.step(i));
      if ((steps.empty() || steps.back() != step) && (show_incomplete_steps || snapshot->complete(step.value))) {
        steps.push_back(step);
      }
    }
  });
  return steps;
}

std::vector<ModeStep> Trial::steps(Mode mode, bool show_incomplete_steps) const {
  std::vector<ModeStep> steps;
  if (mode == Mode::global) {
    for (const GlobalStep step : this->steps(show_incomplete_steps)) {
      steps.emplace_back(step.value);
    }
    return steps;
  }
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  std::optional<std::int64_t> last;
  for (const detail::trial::ModeClaim& claim : snapshot->claims) {
    // If several global steps claim a mode step, the first counts.
    if (claim.mode == mode && claim.mode_step != last) {
      last = claim.mode_step;
      if (show_incomplete_steps || snapshot->complete(claim.step)) {
        steps.emplace_back(claim.mode_step);
      }
    }
  }
  return steps;
}

std::vector<Mode> Trial::modes() const {
  std::vector<Mode> modes;
  for (const detail::trial::ModeClaim& claim : impl_->snapshot()->claims) {
    if (modes.empty() || modes.back() != claim.mode) {
      modes.push_back(claim.mode);
    }
  }
  return modes;
}

std::optional<Mode> Trial::mode(GlobalStep step) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const Step* const found = snapshot->find(step.value);
  return found == nullptr ? std::nullopt : std::optional(found->mode);
}

std::optional<ModeStep> Trial::mode_step(GlobalStep step) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const Step* const found = snapshot->find(step.value);
  return found == nullptr ? std::nullopt : std::optional(ModeStep(found->mode_step));
}

std::optional<ModeStep> Trial::mode_step(GlobalStep step, Mode mode) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const Step* const found = snapshot->find(step.value);
  if (found == nullptr) {
    return std::nullopt;
  }
  if (mode == Mode::global) {
    return ModeStep(step.value);
  }
  for (const detail::layout::StepRow& row : snapshot->rows_of(*found)) {
    if (row.mode == mode) {
      return ModeStep(row.mode_step);
    }
  }
  return std::nullopt;
}

std::optional<GlobalStep> Trial::global_step(Mode mode, ModeStep step) const {
  const std::vector<GlobalStep> all = global_steps(mode, step);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::vector<GlobalStep> Trial::global_steps(Mode mode, ModeStep step) const {
  std::vector<GlobalStep> steps;
  for (const std::int64_t number : impl_->snapshot()->global_steps(mode, step.value)) {
    steps.emplace_back(number);
  }
  return steps;
}

bool Trial::has_event_files(GlobalStep step) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const Step* const found = snapshot->find(step.value);
  if (found == nullptr) {
    return false;
  }
  const std::span<const detail::layout::StepRow> rows = snapshot->rows_of(*found);
  return std::all_of(rows.begin(), rows.end(), [&](const detail::layout::StepRow& row) {
    return snapshot->catalog.payload(row).count == 0 || impl_->storage().exists(*impl_->records().file(*snapshot, row));
  });
}

std::vector<std::string> Trial::workers() const { return impl_->snapshot()->collections->workers; }

std::vector<std::string> Trial::writers() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  std::vector<std::string_view> names;
  std::vector<bool> seen(snapshot->listing->workers.size(), false);
  snapshot->for_each_sequence([&](const detail::layout::RowSequence& rows) {
    if (!seen[rows.row.file.worker]) {
      seen[rows.row.file.worker] = true;
      names.push_back(snapshot->worker(rows.row));
    }
  });
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return texts(names);
}

std::size_t Trial::num_workers() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  return detail::layout::workers_needed(*snapshot->collections, *snapshot->listing);
}

std::map<std::string, Collection> Trial::collections() const { return *impl_->snapshot()->collections->collections; }

std::vector<std::string> Trial::collection_names() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const auto& made = snapshot->collections->made_of_names;
  std::set<std::string> names(made.begin(), made.end());
  for (const auto& [name, collection] : *snapshot->collections->collections) {
    names.insert(name);
  }
  return {names.begin(), names.end()};
}

std::optional<Collection> Trial::collection(std::string_view name) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const auto it = snapshot->collections->collections->find(std::string(name));
  return it != snapshot->collections->collections->end() ? std::optional(it->second)
         : snapshot->collections->defines(name)          ? std::optional(Collection{.name = std::string(name)})
                                                         : std::nullopt;
}

StepState Trial::has_passed_step(StepKey step) const { return impl_->snapshot_or_last()->state(step); }

std::optional<GlobalStep> Trial::last_complete_step() const {
  const std::optional<std::int64_t> last = impl_->snapshot()->last_complete;
  return last ? std::optional(GlobalStep(*last)) : std::nullopt;
}

const LayoutTraits& Trial::layout() const noexcept { return impl_->traits(); }

std::map<std::string, std::uint64_t> Trial::superseded() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  std::map<std::string, std::uint64_t> counts;
  if (snapshot->superseded) {
    for (const auto& [tensor, count] : snapshot->superseded->counts) {
      counts.emplace(snapshot->catalog.tensors()[tensor], count);
    }
  }
  return counts;
}

std::vector<OtherValue> Trial::other_values() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  return snapshot->listing->extras ? snapshot->listing->extras->others : std::vector<OtherValue>();
}

std::optional<std::int64_t> Trial::exit_code() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  return snapshot->listing->extras ? snapshot->listing->extras->exit_code : std::nullopt;
}

Hyperparameters Trial::hyperparameters() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  return snapshot->listing->extras ? snapshot->listing->extras->hyperparameters : Hyperparameters();
}

bool Trial::ended() const { return impl_->snapshot()->ended; }

std::vector<GlobalStep> Trial::listed_steps() const {
  std::vector<GlobalStep> steps;
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  if (!snapshot->listing->named) {
    std::transform(snapshot->steps.begin(), snapshot->steps.end(), std::back_inserter(steps),
                   [](const Step& step) { return GlobalStep(step.number); });
    const auto in_range = static_cast<std::ptrdiff_t>(steps.size());
    std::transform(snapshot->left_out.begin(), snapshot->left_out.end(), std::back_inserter(steps),
                   [](std::int64_t step) { return GlobalStep(step); });
    std::inplace_merge(steps.begin(), steps.begin() + in_range, steps.end());
    return steps;
  }
  for (const auto& [step, workers] : detail::layout::count_steps(*snapshot->listing->named)) {
    steps.emplace_back(step);
  }
  return steps;
}

std::vector<Problem> Trial::problems() const { return impl_->problems(); }
void Trial::refresh() { impl_->refresh(); }
void Trial::load_range(const StepRange& range) { impl_->load_range(range); }

std::string reduction_tensor_name(std::string_view reduction, std::string_view tensor) {
  std::string name = "smdebug/reductions/";
  name.append(reduction);
  name.push_back('/');
  name.append(tensor);
  return name;
}

/// Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) NoRefreshInThread::Impl {
  explicit Impl(std::vector<const detail::trial::TrialState*> states) : still(std::move(states)) {}

  detail::trial::HoldStill still;
};

NoRefreshInThread::NoRefreshInThread(std::span<const Trial* const> trials) {
  std::vector<const detail::trial::TrialState*> states;
  states.reserve(trials.size());
  for (const Trial* const trial : trials) {
    states.push_back(&detail::TrialAccess::state(*trial));
  }
  impl_ = std::make_unique<Impl>(std::move(states));
}
NoRefreshInThread::~NoRefreshInThread() = default;

std::optional<FileTotals> file_totals(const Trial& trial) {
  detail::trial::TrialState& state = detail::TrialAccess::state(trial);
  detail::storage::Storage& storage = state.storage();
  if (const std::string& file = state.only_file(); !file.empty()) {
    constexpr std::size_t size = 4;  // of a `FileStamp`
    const auto written = storage.written_at(file);
    const auto stamp = storage.file_stamp(file);
    return written && stamp ? std::optional(FileTotals{*written, (*stamp)[size]}) : std::nullopt;
  }
  detail::storage::Storage::FileTotals all;
  for (const std::string_view folder : state.layout().folders()) {
    auto totals = storage.totals_below(folder);
    if (!totals) {
      state.notice(std::move(totals.problem()));
      return std::nullopt;
    }
    all.newest = std::max(all.newest, totals->newest);
    all.bytes += totals->bytes;
  }
  return all.newest ? std::optional(FileTotals{*all.newest, all.bytes}) : std::nullopt;
}

std::optional<std::chrono::system_clock::time_point> last_written(const Trial& trial) {
  const std::optional<FileTotals> totals = file_totals(trial);
  return totals ? std::optional(totals->newest) : std::nullopt;
}

}  // namespace smd
