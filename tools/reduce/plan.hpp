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

enum class How : std::uint8_t { missing, saved, computed };

/// How a figure is come by where it is `saved`, or the values that it could be computed of are there.
[[nodiscard]] How how_of(const ReduceCommandOptions& options, const Wanted& wanted, bool saved, bool has_values);

/// How the figures of a row are come by; shared by all rows alike.
struct Plan {
  std::vector<How> how;
  std::vector<Reduction> computed;     ///< What is computed,
  std::vector<std::size_t> positions;  ///< and which figure each is.
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
