// SPDX-License-Identifier: Apache-2.0
#include "row_plan.hpp"

namespace smd::tool::reduce {

How how_of(const ReduceCommandOptions& options, const Wanted& wanted, bool saved, bool has_values) {
  const bool may_be_computed =
      options.source == SourceChoice::computed || (options.source == SourceChoice::automatic && !wanted.saved_only);
  const bool computed = has_values && may_be_computed && wanted.reduction.has_value();
  if (saved && options.source != SourceChoice::computed && !options.slice && !options.by.row) {
    // Steps of other shards may have nothing saved, or saved statistics that can be pooled only from elements.
    const bool may_be_pooled = options.shard && !options.by.step;
    return computed && may_be_pooled && !needs_values(*wanted.reduction) ? How::both : How::saved;
  }
  return computed ? How::computed : How::missing;
}

const RowPlan& RowPlans::of(const std::vector<How>& how) {
  const auto [place, fresh] = plans_.try_emplace(how);
  RowPlan& plan = place->second;
  if (fresh) {
    plan.how = how;
    for (std::size_t i = 0; i < how.size(); ++i) {
      if (how[i] == How::computed) {
        plan.computed.push_back(*wanted_[i].reduction);
        plan.positions.push_back(i);
        plan.needs_values = plan.needs_values || needs_values(plan.computed.back());
      }
      plan.lacks = plan.lacks || how[i] == How::missing;
    }
    for (std::size_t i = 0; i < how.size(); ++i) {
      if (how[i] == How::both) {
        plan.computed.push_back(*wanted_[i].reduction);
      }
    }
  }
  return plan;
}

}  // namespace smd::tool::reduce
