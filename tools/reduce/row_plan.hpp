// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <smd/reduction.hpp>
#include <vector>

#include "options.hpp"
#include "reduction_list.hpp"

namespace smd::tool::reduce {

/// `both`: saved, with what is known of the elements beside it, since merging shards may want to compute it.
enum class How : std::uint8_t { missing, saved, both, computed };

[[nodiscard]] constexpr bool is_saved(How how) noexcept { return how == How::saved || how == How::both; }

/// How a figure is come by where it is `saved`, or the values that it could be computed of are there.
[[nodiscard]] How how_of(const ReduceCommandOptions& options, const Wanted& wanted, bool saved, bool has_values);

/// How the figures of a row are come by; shared by all rows alike.
struct Plan {
  std::vector<How> how;
  std::vector<Reduction> computed;     ///< What is computed, or must be known to be computed later,
  std::vector<std::size_t> positions;  ///< and which figure each of the first is; the others are none here.
  bool lacks = false;                  ///< Some figure is missing.
  bool needs_values = false;           ///< Some reduction is best done with all elements in place.
};

/// Plans by what they say, each once; they stay where they are.
class Plans {
 public:
  explicit Plans(const std::vector<Wanted>& wanted) : wanted_(wanted) {}
  [[nodiscard]] const Plan& of(const std::vector<How>& how);

 private:
  const std::vector<Wanted>& wanted_;
  std::map<std::vector<How>, Plan> plans_;
};

}  // namespace smd::tool::reduce
