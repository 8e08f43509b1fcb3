// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <smd/reduction.hpp>
#include <string>
#include <vector>

namespace smd::tool::reduce {

/// One column of statistics.
struct Wanted {
  std::string name;
  std::optional<Reduction> reduction;  ///< Nullopt: a name that only the job knows; cannot be computed.
  bool saved_only = false;             ///< Asked for as one of `saved`: not computed, unless --source says so.
};

/// The reductions that a `-r` list names, each once, in the order asked; the word `saved` stands for the names in
/// `saved`.
/// @throws UsageError for an unknown name.
[[nodiscard]] std::vector<Wanted> wanted_reductions(const std::vector<std::string>& list, bool abs,
                                                    const std::set<std::string>& saved);

/// The names of all reductions but percentiles, in the order of the help: those of x, of |x|, and those without an
/// `abs_` form.
[[nodiscard]] std::vector<std::string> reduction_words();

/// The reduction that pools a statistic of several arrays into that of all of them: min, max, sum, prod or l2. Nullopt
/// if none does.
[[nodiscard]] std::optional<Reduction> pooling_of(const Wanted& wanted) noexcept;

}  // namespace smd::tool::reduce
