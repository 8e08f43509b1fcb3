// SPDX-License-Identifier: Apache-2.0
#include "text/mapped.hpp"
#include "trial/trial_state.hpp"

#include <smd/trial.hpp>

#include <boost/container/flat_set.hpp>

#include <set>

namespace smd {

using detail::layout::RowSequence;
using detail::layout::StepRow;
using detail::trial::Item;
using detail::trial::no_id;
using detail::trial::ShapeList;
using detail::trial::Snapshot;
using detail::trial::Step;

namespace {

/// Returns the bytes of one entry in all rows of a sequence. A number takes the same in each.
std::uint64_t entry_bytes(const detail::trial::Catalog& catalog, const RowSequence& rows, std::uint32_t position) {
  const detail::layout::Payload first = catalog.payload(rows.row);
  if (catalog.type(first, position).form == ValueForm::number) {
    return rows.count * catalog.bytes(first, position);
  }
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < rows.count; ++i) {
    bytes += catalog.bytes(first.of_row(i), position);
  }
  return bytes;
}

/// Ids, ascending. Those of the first step are added in order; in later steps most are known.
using Ids = boost::container::flat_set<std::uint32_t>;

/// The data of a `TensorSummary`, in ids.
struct Tally {
  std::size_t steps = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::uint64_t bytes = 0;
  std::uint8_t modes = 0;
  bool value = false;
  Ids workers;  // ranks of their names in byte order
  Ids reductions;
  const Shape* shape = nullptr;

  void saw(const RowSequence& rows, std::uint32_t worker_rank) {
    const StepRow& row = rows.row;
    first = steps == 0 ? row.file.step : first;
    steps += steps != 0 && last == rows.last_step() ? 0 : rows.count;  // equal for another item or worker of a step
    last = rows.last_step();
    modes = static_cast<std::uint8_t>(modes | (1u << static_cast<unsigned>(row.mode)));
    workers.insert(worker_rank);
  }
};

/// `by_rank`: ids of workers in the byte order of their names.
TensorSummary summary(const Snapshot& snapshot, const std::vector<std::uint32_t>& by_rank, std::uint32_t tensor,
                      const Tally& tally) {
  TensorSummary row;
  row.tensor = std::string(snapshot.catalog.tensors()[tensor]);
  row.steps = tally.steps;
  row.first_step = GlobalStep(tally.first);
  row.last_step = GlobalStep(tally.last);
  row.bytes = tally.bytes;
  for (const Mode mode : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
    if ((tally.modes >> static_cast<unsigned>(mode) & 1u) != 0) {
      row.modes.push_back(mode);
    }
  }
  row.workers =
      detail::mapped(tally.workers, [&](std::uint32_t rank) { return *snapshot.listing->workers[by_rank[rank]]; });
  row.workers.erase(std::unique(row.workers.begin(), row.workers.end()), row.workers.end());
  row.saved = detail::mapped(tally.reductions,
                             [&](std::uint32_t id) { return std::string(snapshot.catalog.reductions()[id]); });
  std::ranges::sort(row.saved);
  if (tally.shape != nullptr) {
    row.saved.insert(row.saved.begin(), "shape");
    row.shape = *tally.shape;
  }
  if (tally.value) {
    row.saved.insert(row.saved.begin(), "value");
  }
  return row;
}

std::shared_ptr<const detail::layout::Extras> extras_of(const Snapshot& snapshot) {
  const auto& extras = snapshot.listing->extras;
  return extras ? extras : std::make_shared<const detail::layout::Extras>();
}

StepInfo info_of(const Snapshot& snapshot, const Step& step, std::vector<std::uint32_t>& tensors) {
  StepInfo info{snapshot.public_step(step)};
  tensors.clear();
  for (const StepRow& row : snapshot.rows_of(step)) {
    const std::string_view worker = snapshot.worker(row);
    if (info.workers.empty() || info.workers.back() != worker) {
      info.workers.emplace_back(worker);
    }
    const detail::layout::Payload payload = snapshot.catalog.payload(row);
    for (std::uint32_t i = 0; i < payload.count; ++i) {
      info.bytes += snapshot.catalog.bytes(payload, i);
    }
    std::ranges::transform(snapshot.catalog.items(row).items, std::back_inserter(tensors), &Item::tensor);
    const ShapeList& shapes = snapshot.catalog.shapes(row);
    std::ranges::transform(shapes.shapes, std::back_inserter(tensors), &ShapeList::Saved::tensor);
  }
  detail::sort_each_once(tensors);
  info.tensors = tensors.size();
  return info;
}

/// Sets whether trials refresh automatically; restores what was before.
class SetRefresh {
 public:
  SetRefresh(std::span<const Trial* const> trials, bool refresh)
      : trials_(detail::mapped(trials, [](const Trial* trial) { return detail::TrialAccess::shared_state(*trial); })),
        before_(detail::mapped(trials_, [&](const auto& trial) { return trial->auto_refresh().exchange(refresh); })) {}
  SetRefresh(const SetRefresh&) = delete;
  SetRefresh& operator=(const SetRefresh&) = delete;
  ~SetRefresh() {
    for (std::size_t i = trials_.size(); i-- > 0;) {
      trials_[i]->auto_refresh().store(before_[i]);
    }
  }

 private:
  std::vector<std::shared_ptr<detail::trial::TrialState>> trials_;
  std::vector<bool> before_;
};

}  // namespace

Trial Trial::open(const std::string& path, const TrialOptions& options) {
  return Trial(std::make_shared<Impl>(path, options));
}

const std::string& Trial::name() const noexcept { return impl_->name(); }
const std::string& Trial::path() const noexcept { return impl_->path(); }

std::vector<std::string> Trial::tensor_names(const TensorQuery& query) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  detail::MatchBudget budget;
  std::vector<std::uint32_t> ids = select_ids(*impl_, *snapshot, query, budget);
  const std::vector<std::uint32_t>& rank = snapshot->catalog.tensor_rank();
  std::ranges::sort(ids, [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });
  return detail::mapped(ids, [&](std::uint32_t id) { return std::string(snapshot->catalog.tensors()[id]); });
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
  if (mode == Mode::global) {
    return detail::mapped(steps(show_incomplete_steps), [](GlobalStep step) { return ModeStep(step.value); });
  }
  std::vector<ModeStep> steps;
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const auto& claims = snapshot->claims;
  std::optional<std::int64_t> last;
  for (auto claim = claims.partition_point([mode](const auto& one) { return one.mode < mode; });
       claim != claims.end() && claim->mode == mode; ++claim) {
    // If several global steps claim a mode step, the first counts.
    if (std::exchange(last, claim->mode_step) != claim->mode_step &&
        (show_incomplete_steps || snapshot->complete(claim->step))) {
      steps.emplace_back(claim->mode_step);
    }
  }
  return steps;
}

std::vector<Mode> Trial::modes() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  std::vector<Mode> modes{Mode::train, Mode::eval, Mode::predict};
  std::erase_if(modes, [&](Mode mode) { return !snapshot->last_step(mode); });
  return modes;
}

std::optional<Mode> Trial::mode(GlobalStep step) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const Step* const found = snapshot->find(step.value);
  return found == nullptr ? std::nullopt : std::optional(found->mode);
}

std::optional<ModeStep> Trial::mode_step(GlobalStep step, std::optional<Mode> mode) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const Step* const found = snapshot->find(step.value);
  if (found == nullptr) {
    return std::nullopt;
  }
  if (!mode) {
    return ModeStep(found->mode_step);
  }
  if (mode == Mode::global) {
    return ModeStep(step.value);
  }
  const std::span<const StepRow> rows = snapshot->rows_of(*found);
  const auto row = std::ranges::find(rows, *mode, &StepRow::mode);
  return row == rows.end() ? std::nullopt : std::optional(ModeStep(row->mode_step));
}

std::optional<GlobalStep> Trial::global_step(Mode mode, ModeStep step) const {
  const std::vector<GlobalStep> all = global_steps(mode, step);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::vector<GlobalStep> Trial::global_steps(Mode mode, ModeStep step) const {
  return detail::mapped(impl_->snapshot()->global_steps(mode, step.value),
                        [](std::int64_t number) { return GlobalStep(number); });
}

bool Trial::has_event_files(GlobalStep step) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const Step* const found = snapshot->find(step.value);
  if (found == nullptr) {
    return false;
  }
  const std::span<const detail::layout::StepRow> rows = snapshot->rows_of(*found);
  return std::ranges::all_of(rows, [&](const detail::layout::StepRow& row) {
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
  detail::sort_each_once(names);
  return {names.begin(), names.end()};
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
  return std::optional<GlobalStep>(impl_->snapshot()->last_complete);
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
  const auto extras = extras_of(*impl_->snapshot());
  return {extras->others.begin(), extras->others.end()};
}
std::optional<std::int64_t> Trial::exit_code() const { return extras_of(*impl_->snapshot())->exit_code; }
std::map<std::string, std::string> Trial::hyperparameters() const {
  return extras_of(*impl_->snapshot())->hyperparameters;
}
std::uint64_t Trial::hyperparameter_records() const { return extras_of(*impl_->snapshot())->hyperparameter_records; }

bool Trial::ended() const { return impl_->snapshot()->over(); }

std::vector<GlobalStep> Trial::listed_steps() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  if (snapshot->listing->named) {
    return detail::mapped(detail::layout::count_steps(*snapshot->listing->named),
                          [](const auto& step) { return GlobalStep(step.first); });
  }
  auto steps = detail::mapped(snapshot->steps, [](const Step& step) { return GlobalStep(step.number); });
  const auto in_range = static_cast<std::ptrdiff_t>(steps.size());
  std::ranges::transform(snapshot->left_out, std::back_inserter(steps),
                         [](std::int64_t step) { return GlobalStep(step); });
  std::inplace_merge(steps.begin(), steps.begin() + in_range, steps.end());
  return steps;
}

std::vector<Problem> Trial::problems() const { return impl_->problems(); }
void Trial::refresh() { impl_->refresh(); }
void Trial::load_range(const StepRange& range) { impl_->load_range(range); }

std::string reduction_tensor_name(std::string_view reduction, std::string_view tensor) {
  return std::string("smdebug/reductions/").append(reduction).append("/").append(tensor);
}

NoRefresh::NoRefresh(std::span<const Trial* const> trials, bool in_this_thread) {
  if (in_this_thread) {
    restores_ = std::make_shared<detail::trial::HoldStill>(detail::mapped(
        trials,
        [](const Trial* trial) -> const detail::trial::TrialState* { return &detail::TrialAccess::state(*trial); }));
  } else {
    restores_ = std::make_shared<SetRefresh>(trials, false);
  }
}

Refresh::Refresh(std::span<const Trial* const> trials) : restores_(std::make_shared<SetRefresh>(trials, true)) {}

std::vector<StepInfo> Trial::step_infos() const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  std::vector<std::uint32_t> tensors;
  return detail::mapped(snapshot->steps, [&](const Step& step) { return info_of(*snapshot, step, tensors); });
}

std::optional<StepInfo> Trial::step_info(GlobalStep step) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const Step* const found = snapshot->find(step.value);
  std::vector<std::uint32_t> tensors;
  return found == nullptr ? std::nullopt : std::optional(info_of(*snapshot, *found, tensors));
}

std::vector<TensorSummary> Trial::summaries(const std::vector<std::string>& names) const {
  const std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  const detail::trial::Catalog& catalog = snapshot->catalog;
  std::vector<Tally> tallies(catalog.tensors().size());
  const std::vector<std::uint32_t>& ranks = snapshot->listing->worker_rank;
  const std::vector<std::uint32_t> by_rank = detail::places_in(ranks);
  snapshot->for_each_sequence([&](const RowSequence& saved_rows) {
    const StepRow& row = saved_rows.row;
    for (const Item& item : catalog.items(row).items) {
      Tally& tally = tallies[item.tensor];
      tally.saw(saved_rows, ranks[row.file.worker]);
      tally.bytes += entry_bytes(catalog, saved_rows, item.position);
      const detail::layout::Payload payload = catalog.payload(row);
      const ValueType& type = catalog.type(payload, item.position);
      if (detail::trial::is_shape_alone(type, payload.length(item.position))) {
        tally.shape = &type.shape;
      } else if (item.reduction == no_id) {
        tally.value = true;
      } else {
        tally.reductions.insert(item.reduction);
      }
    }
    for (const ShapeList::Saved& saved : catalog.shapes(row).shapes) {
      tallies[saved.tensor].saw(saved_rows, ranks[row.file.worker]);
      tallies[saved.tensor].shape = &saved.shape;
    }
  });
  std::vector<TensorSummary> rows;
  std::vector<bool> wanted(tallies.size(), names.empty());
  for (const std::string& name : names) {
    if (const std::uint32_t id = catalog.tensors().find(name); id != no_id) {
      wanted[id] = true;
    }
  }
  for (const std::uint32_t id : catalog.sorted_tensors()) {
    if (wanted[id] && tallies[id].steps > 0) {
      rows.push_back(summary(*snapshot, by_rank, id, tallies[id]));
    }
  }
  return rows;
}

std::optional<FileTotals> file_totals(const Trial& trial) {
  detail::trial::TrialState& state = detail::TrialAccess::state(trial);
  detail::storage::Storage& storage = state.storage();
  if (const std::string& file = state.only_file(); !file.empty()) {
    const auto written = storage.written_at(file);
    const auto stamp = storage.file_stamp(file);
    return written && stamp ? std::optional(FileTotals{*written, detail::storage::size_of(*stamp)}) : std::nullopt;
  }
  detail::storage::Storage::FileTotals all;
  for (const std::string_view folder : state.layout().folders()) {
    auto totals = storage.totals_below(folder, state.others());
    if (!totals) {
      state.notice(std::move(totals.problem()));
      return std::nullopt;
    }
    all.add(*totals);
  }
  return all.newest ? std::optional(FileTotals{*all.newest, all.bytes}) : std::nullopt;
}

// The entries that a query selects, step by step.
namespace {

/// A tensor in a row of a step.
struct Found {
  std::uint32_t rank = 0;  ///< Position of the tensor in byte order.
  std::uint32_t row = 0;   ///< Position of the row in the step: by worker; the last of a worker counts.
  std::uint32_t tensor = 0;
};

/// The tensors that a query asks for. A few tensors are searched for in each list, so that querying all tensors one by
/// one does not visit all entries each time.
class WantedTensors {
 public:
  WantedTensors(const detail::trial::Catalog& catalog, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      if (const std::uint32_t id = catalog.tensors().find(name); id != no_id) {
        ids_.push_back(id);
      }
    }
    few_ = !names.empty() && ids_.size() <= few;
    if (few_) {
      detail::sort_each_once(ids_);
      return;
    }
    set_.assign(catalog.tensors().size(), names.empty());
    for (const std::uint32_t id : ids_) {
      set_[id] = true;
    }
  }

  /// Sets `tensors` to the wanted tensors that have items in a list, each once, ascending.
  void collect(const detail::trial::ItemList& list, std::vector<std::uint32_t>& tensors) const {
    tensors.clear();
    if (few_) {
      std::ranges::copy_if(ids_, std::back_inserter(tensors), [&](std::uint32_t id) { return !list.of(id).empty(); });
      return;
    }
    for (const Item& item : list.items) {
      if (set_[item.tensor] && (tensors.empty() || tensors.back() != item.tensor)) {
        tensors.push_back(item.tensor);
      }
    }
  }

  /// Calls `visit(id)` for the wanted tensors that have shapes in a list, ascending.
  template <class Visit>
  void for_each_shape(const ShapeList& list, const Visit& visit) const {
    if (few_) {
      for (const std::uint32_t id : ids_) {
        if (list.of(id) != nullptr) {
          visit(id);
        }
      }
      return;
    }
    for (const ShapeList::Saved& saved : list.shapes) {
      if (set_[saved.tensor]) {
        visit(saved.tensor);
      }
    }
  }

 private:
  static constexpr std::size_t few = 8;

  bool few_ = false;
  std::vector<std::uint32_t> ids_;  // ascending if few
  detail::trial::TensorSet set_;    // by id, if not few
};

/// Visits the selected entries of a snapshot, in the order step, tensor, worker.
class EntryWalk {
 public:
  using Visit = std::function<bool(const TensorEntry&)>;

  /// All must outlive this.
  EntryWalk(const Snapshot& snapshot, const detail::trial::Records& records, const EntryQuery& query,
            const Visit& visit)
      : snapshot_(snapshot), records_(records), query_(query), visit_(visit) {}

  void all_steps() {
    bool goes_on = true;
    snapshot_.steps.for_each_chunk([&](const detail::trial::StepChunk& chunk) {
      goes_on = goes_on && chunk.for_each([&](const Step& step) { return visit_step(step); });
    });
  }

  void steps(const std::vector<GlobalStep>& steps) {
    std::optional<GlobalStep> last;
    auto next = snapshot_.steps.begin();  // after the last one found, where the next one mostly is
    for (const GlobalStep asked : steps) {
      if (last == asked) {
        continue;
      }
      last = asked;
      if (next == snapshot_.steps.end() || next->number != asked.value) {
        next = snapshot_.steps.partition_point([&](const Step& step) { return step.number < asked.value; });
      }
      if (next != snapshot_.steps.end() && next->number == asked.value) {
        const Step& step = *next;
        ++next;
        if (!visit_step(step)) {
          return;
        }
      }
    }
  }

 private:
  /// What rows at the same position of successive steps mostly have in common.
  struct RowInCommon {
    std::optional<std::uint32_t> list;
    std::vector<std::uint32_t> tensors;       ///< The wanted tensors of the list of items, by name.
    std::uint32_t event_file = no_id;         ///< Id of `file`.
    std::shared_ptr<const std::string> file;  ///< Null if not needed yet.
  };

  // Each `visit_…` returns false if the visit is over.

  bool visit_step(const Step& step) {
    if (!query_.include_incomplete && !query_.superseded && !snapshot_.complete(step.number)) {
      return true;
    }
    found_.clear();
    const std::span<const StepRow> rows = snapshot_.rows_of(step);
    common_.resize(std::max(common_.size(), rows.size()));
    for (std::uint32_t r = 0; r < rows.size(); ++r) {
      const StepRow& row = rows[r];
      RowInCommon& common = common_[r];
      if (row.event_file == no_id || row.event_file != common.event_file) {
        common.event_file = row.event_file;
        common.file.reset();
      }
      if (!wants(row)) {
        continue;
      }
      update(common, row);
      if (rows.size() == 1 && catalog_.shapes(row).shapes.empty()) {
        return !arrived(row) || std::ranges::all_of(common.tensors, [&](std::uint32_t tensor) {
          return visit_tensor(row, tensor, common.file);
        });
      }
      find_tensors(row, r, common);
    }
    return visit_found(rows);
  }

  [[nodiscard]] bool arrived(const StepRow& row) const { return snapshot_.arrived(row, query_.arrivals); }

  [[nodiscard]] bool wants(const StepRow& row) const {
    // An earlier row may be that of a step's first worker.
    return (query_.first_worker_only || arrived(row)) &&
           (!query_.mode || *query_.mode == Mode::global || row.mode == *query_.mode) &&
           (query_.workers.empty() || detail::contains(query_.workers, snapshot_.worker(row)));
  }

  void update(RowInCommon& common, const StepRow& row) const {
    const std::uint32_t list = catalog_.item_list_id(row);
    if (common.list == list) {
      return;
    }
    common.list = list;
    wanted_.collect(catalog_.items(row), common.tensors);
    std::ranges::sort(common.tensors, [&](std::uint32_t a, std::uint32_t b) { return rank_[a] < rank_[b]; });
  }

  void find_tensors(const StepRow& row, std::uint32_t position, const RowInCommon& common) {
    for (const std::uint32_t tensor : common.tensors) {
      found_.push_back({rank_[tensor], position, tensor});
    }
    wanted_.for_each_shape(catalog_.shapes(row), [&](std::uint32_t tensor) {
      if (catalog_.items(row).of(tensor).empty()) {
        found_.push_back({rank_[tensor], position, tensor});
      }
    });
  }

  bool visit_found(std::span<const StepRow> rows) {
    std::ranges::stable_sort(found_, {}, &Found::rank);
    // Whether the next one is of the same tensor, or worker.
    const auto same_tensor = [&](std::size_t i) {
      return i + 1 < found_.size() && found_[i + 1].tensor == found_[i].tensor;
    };
    const auto same_worker = [&](std::size_t i) {
      return rows[found_[i + 1].row].file.worker == rows[found_[i].row].file.worker;
    };
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (!snapshot_.several_count && same_tensor(i) && same_worker(i)) {
        continue;
      }
      const StepRow& row = rows[found_[i].row];
      if (arrived(row) && !visit_tensor(row, found_[i].tensor, common_[found_[i].row].file)) {
        return false;
      }
      if (query_.first_worker_only) {
        const auto more_of_worker = [&] {
          return snapshot_.several_count && rows[found_[i + 1].row].file.worker == row.file.worker;
        };
        while (same_tensor(i) && !more_of_worker()) {
          ++i;
        }
      }
    }
    return true;
  }

  bool visit_tensor(const StepRow& row, std::uint32_t tensor, std::shared_ptr<const std::string>& file) {
    if (!file) {
      file = records_.file(snapshot_, row);
    }
    return !records_.fill(snapshot_, row, tensor, file, entry_) || visit_(entry_);
  }

  const Snapshot& snapshot_;
  const detail::trial::Catalog& catalog_ = snapshot_.catalog;
  const std::vector<std::uint32_t>& rank_ = catalog_.tensor_rank();  // by id of the tensor
  const detail::trial::Records& records_;
  const EntryQuery& query_;
  const Visit& visit_;
  const WantedTensors wanted_{catalog_, query_.tensors};
  std::vector<Found> found_;
  std::vector<RowInCommon> common_;  // by the row's position in the step
  TensorEntry entry_;                // reused, so that its texts are not allocated again
};

}  // namespace

void Trial::for_each_entry(const EntryQuery& query, const std::function<bool(const TensorEntry&)>& visit) const {
  std::shared_ptr<const Snapshot> snapshot = impl_->snapshot();
  if (query.superseded) {
    snapshot = snapshot->superseded;
  }
  if (!snapshot) {
    return;
  }
  EntryWalk walk(*snapshot, impl_->records(), query, visit);
  if (query.steps) {
    walk.steps(*query.steps);
  } else {
    walk.all_steps();
  }
}

}  // namespace smd
