// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/difference.hpp>
#include <smd/rule.hpp>
#include <smd/tensor_view.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "histories.hpp"

namespace smd::tool::report {

/// Which tensors are surveyed.
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
  /// Moves them out, at the end: nothing may be gathered after that.
  [[nodiscard]] Histories take_histories() noexcept { return std::move(histories_); }

 private:
  // How far a tensor's steps in one mode were planned, which is ahead of their evaluation.
  struct Plan {
    std::size_t steps = 0;
    std::size_t every = 1;  // percentiles are asked for at one step in so many
    std::size_t sampled = 0;
    std::deque<GlobalStep> asked = {};  // at these, and not gathered yet
  };
  // What is known of a tensor, so that its names are not looked up again at each step.
  struct Track {
    Role role = Role::other;
    bool excluded = false;
    std::optional<bool> compared = {};  // with the step before; nullopt: not decided
    TensorHistory* history = nullptr;   // null: nothing was gathered
    std::map<Mode, Plan> plans = {};
    std::map<Mode, TensorValue> before = {};  // if it is compared
  };
  using Tracks = std::map<std::string, Track, std::less<>>;

  struct Surveyed {
    const Unit& unit;
    Tracks::value_type& tensor;
    bool first;  // of the tensor's units: that of the first worker
  };

  [[nodiscard]] std::vector<Surveyed> surveyed(const StepTensors& step);
  // `at`: where the tensor is if this step has the same tensors as others; advances. Null if there are too many.
  [[nodiscard]] Tracks::value_type* track_of(std::string_view tensor, Tracks::iterator& at);
  // The role of a tensor of the trial. Reads the collections again for a name that is new.
  [[nodiscard]] Role role_of(std::string_view tensor);
  [[nodiscard]] bool compares(const Unit& unit, Track& track);
  void ask_percentiles(StepNeeds& step, const Unit& unit, Track& track);
  struct Measured;  // the numbers of one unit
  [[nodiscard]] static Measured measure(StepView& step, const Unit& unit, bool first);
  void gather(StepView& step, const Unit& unit, Track& track, const Measured& now);
  void gather_fan(const StepView& step, const Unit& unit, Track& track, const Measured& now, Fan& fan);
  void gather_update(const StepView& step, const Unit& unit, Track& track, ModeHistory& series, bool finite);
  void gather_worker(const Unit& unit, TensorHistory& history, const std::optional<double>& number);
  void gather_time(const StepView& step);

  SurveyOptions options_;
  SelectionId selection_ = {};
  std::map<std::string, Role, std::less<>> roles_;
  Histories histories_;
  Tracks tracks_;
  Comparer comparer_;
  std::size_t surveyed_ = 0;
  std::size_t too_large_ = 0;  // to be compared
  std::uint64_t compared_bytes_ = 0;
};

}  // namespace smd::tool::report
