// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>
#include <smd/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "histories.hpp"

namespace smd::tool::report {

/// Which tensors are looked at.
struct SurveyOptions {
  TensorSelection tensors = {.all = true};
  std::vector<std::string> exclude = {};
  std::size_t columns = 256;  ///< Of each curve.
};

/// A rule that triggers nothing: it asks for the statistics of the page as other rules ask for theirs, so that the
/// evaluator reads each record once for all of them.
class Survey final : public Rule {
 public:
  explicit Survey(SurveyOptions options);

  void begin() override;
  void set_required_tensors(StepNeeds& step) override;
  void invoke_at_step(StepView& step) override;

  [[nodiscard]] const Histories& histories() const noexcept { return histories_; }

 private:
  // How far a tensor's steps in one mode were planned, which is ahead of their evaluation.
  struct Plan {
    std::size_t steps = 0;
    std::size_t every = 1;  // of them, percentiles are asked for
    std::size_t sampled = 0;
  };
  using Key = std::pair<std::string, Mode>;

  // Calls `take` for the first worker's unit of each tensor, and `more` for those of further workers.
  template <class Take, class More>
  void visit(const StepTensors& step, Take&& take, More&& more);
  [[nodiscard]] bool excluded(std::string_view tensor);
  [[nodiscard]] bool compares(const Unit& unit, Role role);
  void ask_percentiles(StepNeeds& step, const Unit& unit);
  void gather(StepView& step, const Unit& unit);
  void gather_fan(const StepView& step, const Unit& unit, Fan& fan);
  void gather_update(const StepView& step, const Unit& unit, Series& series);
  void gather_time(const StepView& step);
  [[nodiscard]] TensorHistory& history_of(std::string_view tensor);
  [[nodiscard]] Series& series_of(TensorHistory& history, Mode mode);

  SurveyOptions options_;
  SelectionId selection_ = {};
  Roles roles_;
  Histories histories_;
  std::map<Key, Plan> plans_;
  std::map<std::string, bool, std::less<>> excluded_;
  std::set<std::string, std::less<>> too_large_;
  std::map<std::string, std::uint64_t, std::less<>> compared_;  // tensors and the bytes of a value
  std::uint64_t compared_bytes_ = 0;
  std::map<Key, TensorValue> before_;  // of tensors that are compared
};

}  // namespace smd::tool::report
