// SPDX-License-Identifier: Apache-2.0
#include "row_plans.hpp"

#include "cli/mapped.hpp"

#include <algorithm>

namespace smd::tool::reduce {

const SavedReduction* find_saved(const TensorEntry& entry, const Wanted& wanted) {
  const auto saved = std::ranges::find(entry.reductions, wanted.name, &SavedReduction::name);
  return saved == entry.reductions.end() ? nullptr : &*saved;
}

How RowPlans::how_of(const Wanted& wanted, bool saved, bool has_values) const {
  const bool may_be_computed =
      options_.source == SourceChoice::computed || (options_.source == SourceChoice::automatic && !wanted.saved_only);
  const bool computed = has_values && may_be_computed && wanted.reduction.has_value();
  if (saved && options_.source != SourceChoice::computed && !options_.slice && !options_.by.row) {
    // Steps of other shards may have nothing saved, or saved statistics that can be pooled only from elements.
    const bool may_be_pooled = options_.shard && !options_.by.step;
    return computed && may_be_pooled && !needs_values(*wanted.reduction) ? How::both : How::saved;
  }
  return computed ? How::computed : How::missing;
}

const RowPlan& RowPlans::plan() {
  const auto [place, fresh] = plans_.try_emplace(how_);
  RowPlan& plan = place->second;
  if (fresh) {
    plan.how = how_;
    plan.lacks = contains(how_, How::missing);
    for (std::size_t i = 0; i < how_.size(); ++i) {
      if (how_[i] == How::computed) {
        plan.computed.push_back(*wanted_[i].reduction);
        plan.positions.push_back(i);
      }
    }
    for (std::size_t i = 0; i < how_.size(); ++i) {
      if (how_[i] == How::both) {
        plan.computed.push_back(*wanted_[i].reduction);
      }
    }
  }
  return plan;
}

const RowPlan& RowPlans::of(const TensorEntry& entry) {
  const RowPlan*& plain = plain_[entry.value ? 1 : 0];
  if (entry.reductions.empty() && plain != nullptr) {
    return *plain;
  }
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    how_[i] = how_of(wanted_[i], find_saved(entry, wanted_[i]) != nullptr, entry.value.has_value());
  }
  const RowPlan& made = plan();
  plain = entry.reductions.empty() ? &made : plain;
  return made;
}

void RowPlans::note(const TensorEntry& entry) {
  const RowFacts facts = RowFacts::of(entry, options_.by);
  Pool& pool = pools_.try_emplace(facts.key(), Pool{.facts = facts, .last_trial = trial_}).first->second;
  pool.facts.written = std::min(pool.facts.written, facts.written);
  pool.facts.trials += pool.last_trial != trial_ ? 1 : 0;
  pool.last_trial = trial_;
  ++pool.members;
  pool.values += entry.value ? 1 : 0;
  if (!entry.reductions.empty()) {
    pool.saved.resize(wanted_.size());
  }
  for (std::size_t i = 0; i < pool.saved.size(); ++i) {
    pool.saved[i] += find_saved(entry, wanted_[i]) != nullptr ? 1 : 0;
  }
}

void RowPlans::finish() {
  for (auto& [key, pool] : pools_) {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const bool saved =
          !pool.saved.empty() && pool.saved[i] == pool.members && (pool.members == 1 || pooling_of(wanted_[i]));
      how_[i] = how_of(wanted_[i], saved, pool.values == pool.members);
    }
    pool.plan = &plan();
  }
}

}  // namespace smd::tool::reduce
