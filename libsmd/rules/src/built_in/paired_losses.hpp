// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "built_in/losses.hpp"
#include "built_in/zero_losses.hpp"
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

/// The parameter `pairs` of rules that compare training with validation.
[[nodiscard]] ParameterSpec pairs_parameter();
/// @throws ConfigurationError (bad_value) for an item that cannot be a pair.
void check_pairs(const Parameters& parameters);
/// The names that an item of the parameter may mean, for every colon at which it may be split.
[[nodiscard]] std::vector<TensorPair> readings_of_pair(std::string_view item);

/// What a pair came to at a step at which its validation tensor has a value.
struct PairObservation {
  const TensorPair* pair;
  double training = 0;  ///< Mean of the training values since the pair's observation before.
  double validation = 0;
};

/// Which tensors are compared, and their values since the last observation. Where steps have modes, values of training
/// come from steps that are not of evaluation and the reverse.
class PairedLosses {
 public:
  /// Pairs that names make: of the validation names that `chosen` has and, unless `any_partner`, of training names that
  /// it has too.
  PairedLosses(SelectionId chosen, bool any_partner) : chosen_(chosen), any_partner_(any_partner) {}
  /// Pairs as they are said: items of the parameter.
  explicit PairedLosses(std::vector<std::string> items) : items_(std::move(items)) {}

  void need(StepNeeds& step);
  /// `zeros`, if given, sees each value.
  [[nodiscard]] std::vector<PairObservation> add(StepView& step, ZeroLosses* zeros);

  /// Why nothing was compared; empty if it is for the selection to say.
  [[nodiscard]] std::string why_nothing(const RuleSummary& summary) const;
  /// Of each said name that the trial does not have: `no tensor 'val_los' was saved; similar names: val_loss`.
  [[nodiscard]] const std::vector<std::string>& absent() const noexcept { return absent_; }

 private:
  struct Sum {
    double sum = 0;
    std::size_t count = 0;
  };

  /// Takes names anew if they have changed.
  void resolve(const StepTensors& step);
  void pair_by_sides(const StepTensors& step, const TrialSnapshot& snapshot);
  void pair_as_said(const TrialSnapshot& snapshot);

  std::optional<SelectionId> chosen_;  // nothing: pairs are said
  bool any_partner_ = false;
  std::vector<std::string> items_;

  std::vector<TensorPair> pairs_;    // by validation, or as they are said
  std::vector<std::string> absent_;  // what is wrong with said names
  struct Resolved {
    std::shared_ptr<const Sides> sides;
    std::uint64_t generation = 0;
    std::size_t tensors = 0;

    bool operator==(const Resolved&) const = default;
  };
  std::optional<Resolved> resolved_;  // what `pairs_` is of
  std::map<TensorPair, Sum> since_;   // training values since the last observation
};

}  // namespace smd::detail::rules
