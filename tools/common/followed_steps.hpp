// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <smd/follow.hpp>
#include <smd/trial.hpp>
#include <string>
#include <vector>

#include "diagnostics.hpp"
#include "selection.hpp"

namespace smd::tool {

/// Which of the steps that come -m, -s and --every choose. What counts from the end means the steps that were there
/// when the following began: `-3:` is the last three of them and all that come, `last` the last one and all that come.
class FollowedSteps {
 public:
  FollowedSteps(const Trial& trial, const SelectionOptions& options, const StepSpec& fallback);

  /// No step up to this one is chosen; none: cannot be told.
  [[nodiscard]] std::optional<GlobalStep> after() const;
  /// Whether a step is chosen. Each step is asked for once, in the order of coming.
  bool choose(const FollowEvent& step);
  /// No further step can be chosen.
  [[nodiscard]] bool over() const noexcept;
  /// Says which single steps never came; status 1. `ended`: the job is over.
  void report_missing(bool ended, Diagnostics& messages) const;

 private:
  struct OfMode {
    Mode mode = Mode::global;
    std::vector<StepTerm> terms;          ///< Numbers absolute; none: all.
    std::vector<bool> seen;               ///< By term.
    std::optional<std::int64_t> reached;  ///< The largest number that came.
  };

  void fix(StepTerm& term, const std::vector<std::int64_t>& numbers) const;

  const Trial& trial_;
  std::vector<OfMode> modes_;
  std::uint64_t every_ = 1;
  std::uint64_t count_ = 0;
};

}  // namespace smd::tool
