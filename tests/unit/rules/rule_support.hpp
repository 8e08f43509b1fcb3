// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/temp_dir.hpp"
#include "support/trial_builder.hpp"

#include <smd/evaluator.hpp>
#include <smd/rule_registry.hpp>
#include <smd/trial.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace smd::test {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

using Steps = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

/// A small trial, step by step, and rules evaluated over it.
///
///     RuleTrial trial(RuleTrial::Collections{{"gradients", {"^gradient"}}});
///     trial.step(0, {{"gradient/a", {1e-9F}}}).step(1, {{"gradient/a", {1}}});
///     const RuleResult result = trial.run("VanishingGradient", {{"threshold", "1e-8"}});
class RuleTrial {
 public:
  using Collections = std::map<std::string, std::vector<std::string>>;
  using Tensors = std::vector<std::pair<std::string, std::vector<float>>>;

  /// Collections by name, with patterns.
  explicit RuleTrial(const Collections& collections = {}, int workers = 1);

  /// Mode GLOBAL, worker_0. A tensor named `smdebug/reductions/KIND/NAME` is a saved reduction (see `saved`).
  RuleTrial& step(std::int64_t step, const Tensors& tensors);
  RuleTrial& step(std::int64_t step, Mode mode, std::int64_t mode_step, const Tensors& tensors);
  RuleTrial& step(BuiltStep step);
  /// The job is over. `run` does this by itself unless `running` was called.
  RuleTrial& running();

  [[nodiscard]] RuleResult run(const std::string& rule, const ParameterTexts& parameters = {},
                               EvaluationOptions options = {.keep_going = true}) const;
  /// Against another trial.
  [[nodiscard]] RuleResult run(const std::string& rule, const ParameterTexts& parameters, const RuleTrial& other) const;
  [[nodiscard]] Trial open() const;
  [[nodiscard]] TrialBuilder& builder() noexcept { return builder_; }

 private:
  TempDir dir_;
  mutable TrialBuilder builder_;
  bool running_ = false;
};

/// What one rule finds in all of a trial.
[[nodiscard]] RuleResult result_of(const Trial& trial, std::unique_ptr<Rule> rule,
                                   EvaluationOptions options = {.keep_going = true},
                                   std::vector<const Trial*> others = {});

/// `smdebug/reductions/abs_mean/NAME`
[[nodiscard]] std::string saved(const std::string& reduction, const std::string& tensor);

/// Elements of any arithmetic type, by its C++ type. `shape` default: one dimension.
template <class T>
[[nodiscard]] BuiltValue value_of(std::string name, Dtype dtype, const std::vector<T>& elements,
                                  std::optional<Shape> shape = {}) {
  BuiltValue value{std::move(name), dtype, {}, {}};
  value.shape = shape ? *shape : Shape{static_cast<std::int64_t>(elements.size())};
  value.bytes.assign(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
  return value;
}

/// Steps of the findings.
[[nodiscard]] std::vector<std::int64_t> triggered_at(const RuleResult& result);

/// Values of the findings.
[[nodiscard]] std::vector<double> values(const RuleResult& result);

/// The findings as `STEP TENSOR WORKER CHECK VALUE`: the value with all its digits, `-` where there is no tensor or
/// worker.
[[nodiscard]] std::vector<std::string> found(const RuleResult& result);

/// A number of an expected result, where `Infinity` and `-Infinity` are texts, and NaN is any other text or null.
[[nodiscard]] double number_of(const nlohmann::json& json);

/// The kind and parameter with which making a rule fails, as `bad_value threshold`; empty if it does not.
[[nodiscard]] std::string refused(const std::string& rule, const ParameterTexts& parameters);

}  // namespace smd::test
