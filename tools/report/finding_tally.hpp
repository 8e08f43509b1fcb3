// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <smd/rule_result.hpp>
#include <smd/step.hpp>
#include <string>
#include <vector>

namespace smd::tool::report {

/// How many findings of a rule the page lists.
inline constexpr std::size_t listed_findings = 20;

/// A finding as a figure marks it.
struct FindingMark {
  GlobalStep step;
  std::string message;
};

/// What a rule found of one tensor.
struct TensorFindings {
  std::size_t count = 0;
  std::vector<FindingMark> marks = {};  ///< Of the findings at a step, the first and then one in so many.
};

/// What a rule found, in bounded memory: all findings are counted; of each tensor, the first and then one in every N is
/// kept, where N doubles when there are many.
class FindingTally {
 public:
  void add(const Finding& finding);

  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// By tensor; findings about no tensor have the empty name.
  [[nodiscard]] const std::map<std::string, TensorFindings, std::less<>>& tensors() const noexcept { return tensors_; }

 private:
  void halve();

  std::size_t count_ = 0;
  std::size_t every_ = 1;
  std::size_t marks_ = 0;
  std::map<std::string, TensorFindings, std::less<>> tensors_;
};

}  // namespace smd::tool::report
