// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/reduction.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace smd::detail::rules {

/// Sets of reductions by number, so that hundreds of thousands of values that share a few sets hold a number each.
/// Set 0 is empty.
class ReductionSets {
 public:
  using Id = std::uint32_t;

  /// The set that also holds `reduction`. @throws InvalidArgument for one that `Reducer` refuses.
  [[nodiscard]] Id with(Id set, const Reduction& reduction);
  [[nodiscard]] const std::vector<Reduction>& of(Id set) const noexcept { return sets_[set]; }
  /// Place of a reduction in its set; the set's size if it is not in it.
  [[nodiscard]] std::size_t place(Id set, const Reduction& reduction) const noexcept;

 private:
  std::vector<std::vector<Reduction>> sets_{{}};
  std::map<std::pair<Id, std::uint64_t>, std::vector<std::pair<Reduction, Id>>> steps_;
};

}  // namespace smd::detail::rules
