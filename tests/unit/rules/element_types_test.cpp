// SPDX-License-Identifier: Apache-2.0
// Every element type, in values of 0, 1, 5 and 1000 elements: statistics, differences and every rule against NumPy
// (tests/support/element_types.py).
#include "built_in/builtin.hpp"
#include "rule_support.hpp"

#include <smd/difference.hpp>
#include <smd/elements.hpp>
#include <smd/reduction.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace smd::test {
namespace {

using Json = nlohmann::json;

const Json& expected() {
  static const Json json = Json::parse(std::ifstream(SMD_ELEMENT_TYPES "/expected.json"));
  return json;
}

Trial open(const std::string& folder) {
  return Trial::open(std::string(SMD_ELEMENT_TYPES "/") + folder, {.as_it_stands = true});
}

/// NumPy rounds each of its sums.
bool close(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-12 * std::abs(b);
}

bool is_as_expected(const ReducedValue& value, const Json& wanted) {
  if (wanted.is_null()) {
    return value.kind == ReducedValue::Kind::undefined;
  }
  if (wanted.is_array()) {
    return value.kind == ReducedValue::Kind::complex && close(value.real, number_of(wanted[0])) &&
           close(value.imaginary, number_of(wanted[1]));
  }
  return value.kind != ReducedValue::Kind::undefined && close(value.real, number_of(wanted));
}

bool is_as_expected(const std::optional<double>& value, const Json& of, const std::string& name) {
  const bool wanted = of.contains(name) && !of.at(name).is_null();
  return value.has_value() == wanted && (!wanted || close(*value, number_of(of.at(name))));
}

void check_statistics(const TensorView& view, const Json& wanted) {
  std::vector<Reduction> all;
  for (const auto& [name, result] : wanted.items()) {
    all.push_back(parse_reduction(name).value());
  }
  const std::vector<ReducedValue> together = reduce(view, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = to_string(all[i]);
    CAPTURE(name);
    // Alone, other parts of the code compute it than with all others; in two parts, others again.
    Reducer parts(std::span(&all[i], 1));
    const std::size_t middle = view.bytes().size() / item_size(view.dtype()) / 2 * item_size(view.dtype());
    parts.add(view.dtype(), view.bytes().first(middle));
    parts.add(view.dtype(), view.bytes().subspan(middle));
    const ReducedValue alone = reduce(view, std::span(&all[i], 1)).front();
    for (const ReducedValue& result : {together[i], alone, parts.result(all[i])}) {
      CHECK_MESSAGE(is_as_expected(result, wanted.at(name)), to_string(result), " is to be ", wanted.at(name).dump());
    }
  }
}

void check_difference(const TensorView& a, const TensorView& b, const Json& wanted) {
  Comparer comparer;
  comparer.add(a, b);
  const Difference result = comparer.result();
  CHECK(static_cast<double>(result.differing) == number_of(wanted.at("differing")));
  CHECK(result.first.has_value() == !wanted.at("first").is_null());
  CHECK(static_cast<double>(result.first.value_or(0)) ==
        (wanted.at("first").is_null() ? 0 : number_of(wanted.at("first"))));
  CHECK(is_as_expected(result.max_abs, wanted, "max_abs"));
  CHECK(is_as_expected(result.max_rel, wanted, "max_rel"));
  CHECK(is_as_expected(result.mean_abs, wanted, "mean_abs"));
  CHECK(is_as_expected(result.rmse, wanted, "rmse"));
  CHECK(is_as_expected(result.l2_a, wanted, "l2_a"));
  CHECK(is_as_expected(result.l2_b, wanted, "l2_b"));
  CHECK(is_as_expected(result.l2_diff, wanted, "l2_diff"));
  CHECK(is_as_expected(result.cosine, wanted, "cosine"));
}

TEST_CASE("every element type: statistics and differences are NumPy's") {
  REQUIRE(expected().at("types").size() == all_dtypes().size());
  for (const Dtype dtype : all_dtypes()) {
    const std::string type(to_string(dtype));
    CAPTURE(type);
    const Json& wanted = expected().at("types").at(type);
    const Trial trial = open(type);
    const Trial other = open("other/" + type);
    for (const auto& item : wanted.at("statistics").items()) {
      const std::string& name = item.key();
      const Json& statistics = item.value();
      CAPTURE(name);
      const TensorValue value = trial.tensor(name).value(GlobalStep(0));
      CHECK(value.dtype() == dtype);
      if (dtype != Dtype::string) {
        check_statistics(value.view(), statistics);
      }
      const TensorValue next = trial.tensor(name).value(GlobalStep(1));
      check_difference(value.view(), next.view(), wanted.at("between_steps").at(name));
      const TensorValue wider = other.tensor(name).value(GlobalStep(0));
      check_difference(value.view(), wider.view(), wanted.at("between_trials").at(name));
    }
  }
}

using Found = std::tuple<std::int64_t, std::string, std::string, double>;

std::vector<Found> sorted(std::vector<Found> all) {
  std::sort(all.begin(), all.end());
  return all;
}

void check_rule(const std::string& rule, const Trial& trial, const Trial& other, Dtype dtype, const Json& wanted) {
  CAPTURE(rule);
  ParameterTexts parameters;
  for (const auto& [name, text] : expected().at("rules").at(rule).items()) {
    parameters[name] = text.get<std::string>();
  }
  const bool compares = rule == "SimilarAcrossRuns";
  if (compares) {
    parameters["other_trial"] = other.path();
  }
  const RuleResult result = result_of(trial, make_rule(rule, parameters), {.keep_going = true},
                                      compares ? std::vector<const Trial*>{&other} : std::vector<const Trial*>());
  std::vector<Found> found;
  for (const Finding& finding : result.findings) {
    found.emplace_back(finding.step.value().value, finding.tensor.value_or(""), finding.check, finding.value);
  }
  found = sorted(std::move(found));
  std::vector<Found> right;
  for (const Json& finding : wanted) {
    right.emplace_back(finding[0].get<std::int64_t>(), finding[1].is_null() ? "" : finding[1].get<std::string>(),
                       finding[2].get<std::string>(), number_of(finding[3]));
  }
  right = sorted(std::move(right));
  CHECK(result.records_unread == 0);
  REQUIRE(found.size() == right.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::int64_t step = std::get<0>(right[i]);
    const std::string& tensor = std::get<1>(right[i]);
    const std::string& check = std::get<2>(right[i]);
    const double value = std::get<3>(right[i]);
    CAPTURE(step);
    CAPTURE(tensor);
    CHECK(std::get<0>(found[i]) == step);
    CHECK(std::get<1>(found[i]) == tensor);
    CHECK(std::get<2>(found[i]) == check);
    CHECK_MESSAGE(close(std::get<3>(found[i]), value), std::get<3>(found[i]), " is to be ", value);
  }
  // What is no number is never passed over without a word: nobody takes it for healthy.
  if (!is_real(dtype) && result.tensors_matched > 0 && rule != "StalledTrainingRule") {
    CHECK(result.status == RuleStatus::not_evaluated);
    CHECK(result.message.find(dtype == Dtype::string ? "text and " : "complex and ") != std::string::npos);
  }
}

TEST_CASE("every element type: every rule finds what NumPy does") {
  for (const Dtype dtype : all_dtypes()) {
    const std::string type(to_string(dtype));
    CAPTURE(type);
    const Trial trial = open(type);
    const Trial other = open("other/" + type);
    for (const auto& [rule, findings] : expected().at("types").at(type).at("findings").items()) {
      check_rule(rule, trial, other, dtype, findings);
    }
  }
}

TEST_CASE("every built-in rule is in the test above") {
  std::vector<std::string> names;
#define SMD_ADD_NAME(rule) names.push_back(detail::rules::rule##_rule().name);
  SMD_BUILTIN_RULES(SMD_ADD_NAME)
#undef SMD_ADD_NAME
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(expected().at("rules").contains(name));
  }
}

}  // namespace
}  // namespace smd::test
