// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <smd/tensor.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "row_plan.hpp"

namespace smd::tool::reduce {

/// Statistics that are unavailable, collected to be reported once.
class Unavailable {
 public:
  /// Notes an entry that lacks a statistic of its row's plan.
  void lacks(const TensorEntry& entry, const RowPlan& plan, const std::vector<Wanted>& wanted);
  void undefined(const std::string& reduction, std::string_view tensor);
  void string(std::string_view tensor);
  void without_rows(std::string_view tensor);

  void merge(const Unavailable& other);
  void clear();
  /// `pooled`: rows pool several records. `strict`: something missing is a failure.
  void say(bool pooled, bool strict, Diagnostics& messages) const;

 private:
  using Names = std::set<std::string, std::less<>>;
  Names missing_reductions_;
  Names missing_tensors_;
  Names missing_saved_;
  Names undefined_;
  Names undefined_of_;
  Names strings_;
  Names without_rows_;
};

}  // namespace smd::tool::reduce
