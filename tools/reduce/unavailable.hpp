// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <smd/tensor.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "plan.hpp"

namespace smd::tool::reduce {

/// What could not be had, gathered to be said once.
class Findings {
 public:
  /// An entry that has not all that its row's plan names.
  void lacks(const TensorEntry& entry, const Plan& plan, const std::vector<Wanted>& wanted);
  void undefined(const std::string& reduction, std::string_view tensor);
  void string(std::string_view tensor);

  void merge(const Findings& other);
  void clear();
  /// `pooled`: rows are of several records. `strict`: what is missing is a failure.
  void say(bool pooled, bool strict, Diagnostics& messages) const;

 private:
  using Names = std::set<std::string, std::less<>>;
  Names missing_reductions_;
  Names missing_tensors_;
  Names missing_saved_;
  Names undefined_;
  Names undefined_of_;
  Names strings_;
};

}  // namespace smd::tool::reduce
