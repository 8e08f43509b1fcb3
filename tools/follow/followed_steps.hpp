// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <smd/follow.hpp>
#include <smd/trial.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "select/select.hpp"
#include "text/whole_steps.hpp"

namespace smd::tool {

/// Which of the steps that come -m, -s and --every choose. Terms that count from the end refer to the steps that
/// existed when the following began: `-3:` is the last three of them and all that come, `last` the last one and all
/// that come.
class FollowedSteps {
 public:
  using Time = detail::WholeSteps::Time;

  FollowedSteps(Trial& trial, const SelectionOptions& options, const SelectionNeeds& needs);

  /// No step up to this one is chosen; nullopt if that is not known.
  [[nodiscard]] std::optional<GlobalStep> after() const;
  /// Whether a step is chosen. Call it in the order in which steps come, and again each time a step grows: the answer
  /// is the same, unless the step existed before and a term that counts from the end selects all that comes.
  bool choose(const FollowEvent& step);
  /// Whether a selected tensor is wanted at the step that was chosen last.
  [[nodiscard]] bool wants(std::string_view tensor) const;
  /// From when on no further step can be chosen, unless one comes before then; nullopt: not until a later step comes.
  [[nodiscard]] std::optional<Time> over_at() const;
  /// Whether no further step can be chosen.
  [[nodiscard]] bool over() const { return over_at().value_or(Time::max()) <= Time::clock::now(); }
  /// Whether a step came after later ones that --every had counted, so that it keeps others than afterwards.
  [[nodiscard]] bool counts_late() const noexcept { return counts_late_; }
  /// Reports which single steps never came; status 1. `ended`: the job is over.
  void report_missing(bool ended, Diagnostics& messages) const;

 private:
  struct Term {
    StepTerm step;          ///< With absolute numbers.
    bool from_end = false;  ///< For steps that existed, tensors' own steps decide.
    bool comes = false;     ///< Counts from the end, and selects all that comes.
    bool seen = false;      ///< A step of it was chosen.
  };
  struct OfMode {
    Mode mode = Mode::global;
    std::vector<Term> terms = {};              ///< Empty: all steps.
    std::optional<std::int64_t> reached = {};  ///< The largest number that came.

    /// The largest number that can still be selected; INT64_MAX: no bound.
    [[nodiscard]] std::int64_t bound() const;
  };

  void fix(StepTerm& term, const std::vector<std::int64_t>& numbers) const;
  [[nodiscard]] bool chooses(OfMode& of, std::int64_t number, bool known, bool new_since);
  [[nodiscard]] bool keeps(GlobalStep step);
  [[nodiscard]] bool by_tensor() const noexcept { return !own_.steps.empty(); }

  const Trial& trial_;
  const bool grow_;                // steps can grow, and the job go back
  std::vector<GlobalStep> known_;  // that existed, ascending; empty if not needed
  TensorSteps own_;  // those that terms counting from the end select; empty if tensors' own steps do not count
  GlobalStep reached_{INT64_MIN};       // the largest step that came
  std::optional<GlobalStep> own_step_;  // the one chosen last, if only `own_` chose it
  std::vector<OfMode> modes_;
  // Where steps grow:
  detail::WholeSteps whole_;
  std::vector<std::string> behind_;  // of -n, those that have no step after the last that can be chosen
  const bool all_known_;             // no other tensor can be selected
  std::uint64_t every_ = 1;
  std::uint64_t count_ = 0;
  std::map<GlobalStep, bool> kept_;  // by --every
  bool counts_late_ = false;
};

}  // namespace smd::tool
