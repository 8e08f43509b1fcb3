// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <smd/tensor.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "row_plans.hpp"

namespace smd::tool::reduce {

/// Statistics that are unavailable, collected to be reported once.
struct Unavailable {
  using Names = std::set<std::string, std::less<>>;

  Names missing;     ///< Statistics that entries lack,
  Names missing_of;  ///< the first tensors that lack any,
  Names saved;       ///< and what was saved of these.
  Names undefined;   ///< Statistics that these have not: of no elements, or of complex numbers.
  Names undefined_of;
  Names strings;       ///< Tensors of strings.
  Names without_rows;  ///< Tensors that --by row cannot divide.

  /// Notes an entry that lacks a statistic of its row's plan.
  void lacks(const TensorEntry& entry, const RowPlan& plan, const std::vector<Wanted>& wanted);
  void undefined_for(const std::string& reduction, std::string_view tensor);
  void merge(const Unavailable& other);
  /// `pooled`: rows pool several records. `strict`: something missing is a failure.
  void say(bool pooled, bool strict, Diagnostics& messages) const;
};

/// Reports that statistics are unavailable. `strict`: that is a failure.
void say_unavailable(const std::string& text, bool strict, Diagnostics& messages);

}  // namespace smd::tool::reduce
