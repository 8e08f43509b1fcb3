// SPDX-License-Identifier: Apache-2.0
#include "framework/trial_view.hpp"

#include "trial/trial_impl.hpp"

#include <algorithm>

namespace smd {

namespace {

using detail::trial::Item;
using detail::trial::no_id;

}  // namespace

std::string_view Unit::tensor() const noexcept { return view_->snapshot().catalog.tensors()[tensor_]; }
std::string_view Unit::worker() const noexcept { return view_->snapshot().worker(*row_); }
GlobalStep Unit::step() const noexcept { return GlobalStep(row_->file.step); }
Mode Unit::mode() const noexcept { return row_->mode; }
ModeStep Unit::mode_step() const noexcept { return ModeStep(row_->mode_step); }

bool Unit::has_value() const noexcept {
  const auto items = view_->snapshot().catalog.items(*row_).of(tensor_);
  return !items.empty() && items.front().reduction == no_id;
}

std::uint64_t Unit::record_bytes() const noexcept {
  const auto& catalog = view_->snapshot().catalog;
  const auto items = catalog.items(*row_).of(tensor_);
  return items.empty() || items.front().reduction != no_id ? 0 : catalog.payload(*row_).length(items.front().position);
}

bool Unit::has_reduction(std::string_view name) const noexcept {
  const auto& catalog = view_->snapshot().catalog;
  const auto items = catalog.items(*row_).of(tensor_);
  return std::any_of(items.begin(), items.end(), [&](const Item& item) {
    return item.reduction != no_id && catalog.reductions()[item.reduction] == name;
  });
}

std::vector<std::string_view> Unit::reductions() const {
  const auto& catalog = view_->snapshot().catalog;
  std::vector<std::string_view> names;
  for (const Item& item : catalog.items(*row_).of(tensor_)) {
    if (item.reduction != no_id) {
      names.push_back(catalog.reductions()[item.reduction]);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

namespace detail::rules {

TrialView::TrialView(const Trial& trial, std::size_t number, std::vector<std::string> workers)
    : trial_(&trial), number_(number), state_(&TrialAccess::state(trial)), workers_(std::move(workers)) {
  freeze();
}

void TrialView::freeze() {
  std::shared_ptr<const Snapshot> latest = state_->snapshot();
  if (latest == snapshot_) {
    return;
  }
  snapshot_ = std::move(latest);
  budget_ = MatchBudget();
  series_.clear();
}

TensorSet TrialView::resolve(const TensorSelection& selection) const {
  if (selection.names.empty() && selection.regex.empty() && selection.collections.empty()) {
    return TensorSet(snapshot_->catalog.tensors().size(), selection.all);
  }
  TensorQuery query;
  query.names = selection.names;
  query.regex = selection.regex;
  query.collections = selection.collections;
  const std::lock_guard lock(mutex_);
  return trial::select_tensors(*state_, *snapshot_, query, budget_);
}

bool TrialView::has_worker(std::uint32_t worker) const noexcept {
  return workers_.empty() ||
         std::find(workers_.begin(), workers_.end(), *snapshot_->listing->workers[worker]) != workers_.end();
}

std::vector<const StepRow*> TrialView::rows(const trial::Step& step) const {
  std::vector<const StepRow*> rows;
  for (const StepRow& row : snapshot_->rows_of(step)) {
    if (has_worker(row.file.worker)) {
      rows.push_back(&row);
    }
  }
  return rows;
}

std::vector<Unit> TrialView::units(const std::vector<const StepRow*>& rows, const TensorSet& selected) const {
  std::vector<Unit> units;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::uint32_t last = no_id;
    for (const Item& item : snapshot_->catalog.items(*rows[i]).items) {
      if (item.tensor == last || !selected[item.tensor]) {
        continue;
      }
      last = item.tensor;
      // Of several rows of one worker the last one that has the tensor counts.
      bool later = false;
      for (std::size_t k = i + 1; k < rows.size() && rows[k]->file.worker == rows[i]->file.worker; ++k) {
        later = later || !snapshot_->catalog.items(*rows[k]).of(item.tensor).empty();
      }
      if (!later) {
        units.push_back(Unit(*this, *rows[i], item.tensor));
      }
    }
  }
  const std::vector<std::uint32_t>& rank = snapshot_->catalog.tensor_rank();
  std::stable_sort(units.begin(), units.end(),
                   [&](const Unit& a, const Unit& b) { return rank[a.tensor_] < rank[b.tensor_]; });
  return units;
}

std::vector<Unit> TrialView::units(const std::vector<const StepRow*>& rows, std::uint32_t tensor) const {
  std::vector<Unit> units;
  for (const StepRow* const row : rows) {
    if (snapshot_->catalog.items(*row).of(tensor).empty()) {
      continue;
    }
    if (!units.empty() && units.back().row_->file.worker == row->file.worker) {
      units.pop_back();
    }
    units.push_back(Unit(*this, *row, tensor));
  }
  return units;
}

const std::vector<Unit>& TrialView::series(std::uint32_t tensor, std::uint32_t worker, std::optional<Mode> mode) const {
  const std::lock_guard lock(mutex_);
  const auto [it, made] = series_.try_emplace({tensor, worker, mode});
  if (made) {
    for (const trial::Step& step : snapshot_->steps) {
      if (!snapshot_->complete(step.number)) {
        break;
      }
      const StepRow* with = nullptr;
      for (const StepRow& row : snapshot_->rows_of(step)) {
        if (row.file.worker == worker && (!mode || row.mode == *mode) && trial::has_tensor(*snapshot_, row, tensor)) {
          with = &row;
        }
      }
      if (with != nullptr) {
        it->second.push_back(Unit(*this, *with, tensor));
      }
    }
  }
  return it->second;
}

}  // namespace detail::rules

}  // namespace smd
