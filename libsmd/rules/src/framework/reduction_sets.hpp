// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/reduction.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace smd::detail::rules {

/// Numbered sets of reductions: hundreds of thousands of values share a few sets, so each value stores only a number.
/// Set 0 is empty.
class ReductionSets {
 public:
  using Id = std::uint32_t;

  /// Returns the set that also contains `reduction`. @throws InvalidArgument for a reduction that `Reducer` refuses.
  [[nodiscard]] Id with(Id set, const Reduction& reduction);
  [[nodiscard]] const std::vector<Reduction>& of(Id set) const noexcept { return sets_[set]; }
  /// Returns the position of a reduction in a set; the set's size if it is not in the set.
  [[nodiscard]] std::size_t place(Id set, const Reduction& reduction) const noexcept;

 private:
  std::vector<std::vector<Reduction>> sets_{{}};
  std::map<std::pair<Id, std::uint64_t>, std::vector<std::pair<Reduction, Id>>> steps_;
};

}  // namespace smd::detail::rules
