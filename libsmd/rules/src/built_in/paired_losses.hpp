// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "built_in/losses.hpp"
#include "framework/sides.hpp"

#include <smd/rule.hpp>
#include <smd/rule_parameter.hpp>
#include <smd/rule_result.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::rules {

/// Returns the parameter `pairs` of rules that compare training with validation.
[[nodiscard]] ParameterSpec pairs_parameter();
/// @throws ConfigurationError (bad_value) for an item that cannot be a pair.
void check_pairs(const Parameters& parameters);
/// Returns the pairs of names that an item of the parameter may mean: one for each colon at which it can be split.
[[nodiscard]] std::vector<TensorPair> readings_of_pair(std::string_view item);

/// The means of a pair at a step at which its validation tensor has a value.
struct PairObservation {
  const TensorPair* pair;
  double training = 0;  ///< Mean of the training values since the pair's previous observation.
  double validation = 0;
};

/// The tensors that are compared, and their values since the last observation. If steps have modes, training values are
/// not taken from EVAL steps, nor validation values from TRAIN steps.
class PairedLosses {
 public:
  /// Makes pairs from names: of a validation name in `chosen` and a training name, which must be in `chosen` too unless
  /// `any_partner`.
  PairedLosses(SelectionId chosen, bool any_partner) : chosen_(chosen), any_partner_(any_partner) {}
  /// Makes the pairs that items of the parameter state.
  explicit PairedLosses(std::vector<std::string> items) : items_(std::move(items)) {}

  void need(StepNeeds& step);
  /// Returns the observations that the step completes. `zeros`, if given, sees each value.
  [[nodiscard]] std::vector<PairObservation> add(StepView& step, ZeroLosses* zeros);

  /// Returns why nothing was compared; empty if the selection explains it.
  [[nodiscard]] std::string why_nothing(const RuleSummary& summary) const;
  /// Returns a text for each stated name that the trial does not have: `no tensor 'val_los' was saved; similar names:
  /// val_loss`.
  [[nodiscard]] const std::vector<std::string>& absent() const noexcept { return absent_; }

 private:
  struct Sum {
    double sum = 0;
    std::size_t count = 0;
  };

  /// Makes the pairs again if the names have changed.
  void resolve(const StepTensors& step);
  void pair_by_sides(const StepTensors& step, const TrialSnapshot& snapshot);
  void pair_as_said(const TrialSnapshot& snapshot);

  std::optional<SelectionId> chosen_;  // nullopt: the pairs are stated
  bool any_partner_ = false;
  std::vector<std::string> items_;

  std::vector<TensorPair> pairs_;    // by validation, or in the order stated
  std::vector<std::string> absent_;  // see `absent`
  struct Resolved {
    std::shared_ptr<const Sides> sides;
    std::uint64_t generation = 0;
    std::size_t tensors = 0;

    bool operator==(const Resolved&) const = default;
  };
  std::optional<Resolved> resolved_;  // what `pairs_` was made from
  std::map<TensorPair, Sum> since_;   // training values since the last observation
};

}  // namespace smd::detail::rules
