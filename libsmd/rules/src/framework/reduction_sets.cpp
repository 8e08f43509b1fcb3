// SPDX-License-Identifier: Apache-2.0
#include "framework/reduction_sets.hpp"

#include <algorithm>
#include <span>

namespace smd::detail::rules {

ReductionSets::Id ReductionSets::with(Id set, const Reduction& reduction) {
  if (place(set, reduction) < sets_[set].size()) {
    return set;
  }
  auto& steps = steps_[{set, static_cast<std::uint64_t>(reduction.kind) * 2 + (reduction.abs ? 1 : 0)}];
  for (const auto& [added, next] : steps) {
    if (added == reduction) {
      return next;
    }
  }
  static_cast<void>(Reducer(std::span(&reduction, 1)));  // throws here, not while reading
  std::vector<Reduction> larger = sets_[set];
  larger.push_back(reduction);
  sets_.push_back(std::move(larger));
  const Id next = static_cast<Id>(sets_.size() - 1);
  steps.emplace_back(reduction, next);
  return next;
}

std::size_t ReductionSets::place(Id set, const Reduction& reduction) const noexcept {
  const std::vector<Reduction>& all = sets_[set];
  return static_cast<std::size_t>(std::find(all.begin(), all.end(), reduction) - all.begin());
}

}  // namespace smd::detail::rules
