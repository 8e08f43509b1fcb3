// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"

#include <smd/elements.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

namespace smd::detail::rules {

namespace {

/// Returns the number of the `n` elements from `first` on that equal a token as doubles; compares in the elements' type
/// if the result is the same. Precondition: `n` fits std::uint32_t.
template <class Elements>
std::uint32_t count_equal(const Elements& x, std::size_t first, std::size_t n, double token) {
  using T = decltype(x[0]);
  const auto count = [&](auto wanted) {
    std::uint32_t found = 0;
    for (std::size_t i = first; i < first + n; ++i) {
      found += static_cast<decltype(wanted)>(x[i]) == wanted ? 1 : 0;
    }
    return found;
  };
  constexpr double exact = 9007199254740992;  // 2^53: larger integers are rounded as doubles
  if constexpr (std::is_same_v<T, float>) {
    const auto narrow = static_cast<float>(token);
    return static_cast<double>(narrow) == token ? count(narrow) : 0;
  } else if constexpr (std::is_integral_v<T>) {
    if (token > -exact && token < exact) {
      const auto whole = static_cast<std::int64_t>(token);
      const auto narrow = static_cast<T>(whole);
      return static_cast<double>(whole) == token && static_cast<double>(narrow) == token ? count(narrow) : 0;
    }
  }
  return count(token);
}

class NlpSequenceRatio final : public UnitRule {
 public:
  explicit NlpSequenceRatio(const Parameters& parameters)
      : UnitRule(parameters, {.regex = parameters.list("tensor_regex")}),
        tokens_(parameters.numbers("token_values")),
        most_(parameters.numbers("token_thresholds_percent")) {
    if (tokens_.size() != most_.size()) {
      throw ConfigurationError(
          ConfigurationErrorKind::bad_value,
          fmt::format("parameter 'token_thresholds_percent' has {} numbers for {} in 'token_values'; give as many",
                      most_.size(), tokens_.size()),
          "token_thresholds_percent");
    }
    if (tokens_.empty()) {
      throw ConfigurationError(ConfigurationErrorKind::bad_value, "parameter 'token_values' has no number",
                               "token_values");
    }
  }

 private:
  void evaluate(StepView& step, const Unit& unit) override {
    const TensorValue* const value = step.value(unit);
    if (value == nullptr) {
      return;
    }
    const std::vector<std::uint64_t> found = count(value->view());
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const double percent = 100 * static_cast<double>(found[i]) / static_cast<double>(value->view().size());
      trigger_if(step, unit, fmt::format("token={:g}", tokens_[i]), percent, ">", most_[i]);
    }
  }

  /// Counts all tokens in one pass, in blocks that stay in the nearest cache.
  [[nodiscard]] std::vector<std::uint64_t> count(const TensorView& view) const {
    constexpr std::size_t block = 2048;
    std::vector<std::uint64_t> found(tokens_.size());
    visit_numbers(view, [&](const auto& x) {
      for (std::size_t start = 0; start < x.size(); start += block) {
        for (std::size_t i = 0; i < tokens_.size(); ++i) {
          found[i] += count_equal(x, start, std::min(block, x.size() - start), tokens_[i]);
        }
      }
    });
    return found;
  }

  std::vector<double> tokens_;
  std::vector<double> most_;
};

}  // namespace

RuleDescription nlp_sequence_ratio_rule() {
  return {
      .name = "NLPSequenceRatio",
      .summary = "too much of the input sequences is a given token, such as padding",
      .condition =
          "per tensor and worker, for each token t: 100 * (elements equal to t) / elements > its threshold\n"
          "Needs raw values.",
      .frameworks = "deep learning applications",
      .parameters = {{"tensor_regex", Type::pattern_list, ".*embedding0_input_0", "tensors of token sequences"},
                     {"token_values", Type::number_list, "0", "the tokens to count"},
                     {"token_thresholds_percent", Type::number_list, "50",
                      "greatest tolerated percentage of each token; as many as tokens"}},
      .create = create<NlpSequenceRatio>,
      .saves = saves_matching("input_sequence", &Parameters::list, "tensor_regex"),
  };
}

}  // namespace smd::detail::rules
