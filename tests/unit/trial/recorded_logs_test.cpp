// SPDX-License-Identifier: Apache-2.0
// Every recorded log directory answers what was recorded beside it.
#include "support/sha256.hpp"

#include <smd/elements.hpp>
#include <smd/error.hpp>
#include <smd/find.hpp>
#include <smd/trial.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace smd {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path logs = fs::path(SMD_TEST_FIXTURES) / "tb-logs";

double number_of(const json& text) {
  if (text.is_string()) {
    const auto name = text.get<std::string>();
    return name == "NaN"        ? std::numeric_limits<double>::quiet_NaN()
           : name == "Infinity" ? std::numeric_limits<double>::infinity()
                                : -std::numeric_limits<double>::infinity();
  }
  return text.is_boolean() ? (text.get<bool>() ? 1.0 : 0.0) : text.get<double>();
}

/// Numbers are written shortest in their own type: the nearest of that type is meant.
bool equals(double got, double expected, double relative) {
  return (std::isnan(got) && std::isnan(expected)) || got == expected ||
         std::abs(got - expected) <= relative * std::abs(expected);
}

double half_unit(Dtype dtype) {
  return dtype == Dtype::float16    ? std::ldexp(1.0, -11) + 0.01  // subnormal ones have few digits: 6e-08 is 2^-24
         : dtype == Dtype::bfloat16 ? std::ldexp(1.0, -9)
                                    : 0;
}

/// The innermost items of nested lists; a complex number is a list of two.
void flatten(const json& value, std::vector<json>& out) {
  if (!value.is_array()) {
    out.push_back(value);
    return;
  }
  for (const json& part : value) {
    flatten(part, out);
  }
}

template <class T>
std::vector<T> elements_of(const TensorValue& value) {
  std::vector<T> all(value.bytes().size() / sizeof(T));
  if (!all.empty()) {
    std::memcpy(all.data(), value.bytes().data(), all.size() * sizeof(T));
  }
  return all;
}

void check_value(const TensorValue& value, const json& expected) {
  std::vector<json> wanted;
  flatten(expected, wanted);
  if (value.dtype() == Dtype::string) {
    const TensorView view = value.view();
    const std::vector<std::string_view> texts = strings(view);
    REQUIRE(texts.size() == wanted.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      CHECK(texts[i] == wanted[i].get<std::string>());
    }
  } else if (value.dtype() == Dtype::int64) {
    const auto got = elements_of<std::int64_t>(value);
    CHECK(got == json(wanted).get<std::vector<std::int64_t>>());
  } else if (value.dtype() == Dtype::uint64) {
    const auto got = elements_of<std::uint64_t>(value);
    CHECK(got == json(wanted).get<std::vector<std::uint64_t>>());
  } else {
    std::vector<double> got;
    if (value.dtype() == Dtype::complex64) {
      for (const float part : elements_of<float>(value)) {
        got.push_back(static_cast<double>(part));
      }
    } else {
      got = to_doubles(value.view());
    }
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CAPTURE(got[i]);
      const bool is_float = value.dtype() == Dtype::float32 || value.dtype() == Dtype::complex64;
      const double number = number_of(wanted[i]);
      CHECK(equals(got[i], is_float ? static_cast<double>(static_cast<float>(number)) : number,
                   half_unit(value.dtype())));
    }
  }
}

void check_hashes(const TensorValue& value, const json& expected) {
  const TensorView view = value.view();
  std::vector<std::string> got;
  for (const std::string_view text : strings(view)) {
    got.push_back(test::sha256(std::as_bytes(std::span(text))));
  }
  CHECK(got == expected.get<std::vector<std::string>>());
}

/// Sums are divided and subtracted in another order than the recorded ones.
void check_reductions(const std::map<std::string, TensorValue>& got, const json& expected, double scale) {
  std::set<std::string> names;
  for (const auto& [key, value] : got) {
    if (key != "histogram" && key != "num") {
      names.insert(key);
    }
  }
  std::set<std::string> wanted;
  for (const auto& [name, value] : expected.items()) {
    wanted.insert(name);
  }
  CHECK(names == wanted);
  for (const auto& [name, value] : expected.items()) {
    if (names.contains(name)) {
      const std::string& of = name;  // structured bindings cannot be captured
      CAPTURE(of);
      const bool exact = name == "min" || name == "max" || name == "sum";
      const double rounding = 4 * std::numeric_limits<double>::epsilon() * std::max(scale, 1.0);
      CHECK(equals(got.at(name).item(), number_of(value), exact ? 0 : rounding));
    }
  }
}

struct Series {
  std::vector<std::int64_t> steps;
};

void check_tensor(const Trial& trial, const std::string& name, const json& expected) {
  CAPTURE(name);
  REQUIRE(trial.has_tensor(name));
  const Tensor tensor = trial.tensor(name);
  std::map<std::string, Series> found;
  for (const TensorEntry& entry : tensor.entries()) {
    found[std::string(entry.worker)].steps.push_back(entry.step.value);
  }
  std::vector<std::string> collections;
  for (const auto& [collection, members] : trial.collections()) {
    if (std::binary_search(members.tensor_names.begin(), members.tensor_names.end(), name)) {
      collections.push_back(collection);
    }
  }
  CHECK(collections == expected.at("collections").get<std::vector<std::string>>());
  CHECK(found.size() == expected.at("workers").size());
  const bool histogram = expected.at("kind") == "histogram";
  for (const auto& [worker, series] : expected.at("workers").items()) {
    const std::string& of = worker;  // structured bindings cannot be captured
    CAPTURE(of);
    const auto steps = series.at("steps").get<std::vector<std::int64_t>>();
    CHECK(found[worker].steps == steps);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      CAPTURE(steps[i]);
      const GlobalStep step(steps[i]);
      if (histogram) {
        const auto got = tensor.reduction_values(step, worker);
        const json& scales = series.contains("variance_scale") ? series.at("variance_scale") : json();
        const double scale = scales.is_array() && scales.at(i).is_number() ? scales.at(i).get<double>() : 1;
        check_reductions(got, series.at("reductions").at(i), scale);
        REQUIRE(got.contains("histogram"));
        const Shape& shape = got.at("histogram").shape();
        CHECK(got.at("histogram").dtype() == Dtype::float64);
        CHECK((shape.size() == 2 && shape.back() == 3));
        continue;
      }
      const TensorValue value = tensor.value(step, worker);
      CHECK(to_string(value.dtype()) == expected.at("dtype").get<std::string>());
      if (expected.contains("shape") && expected.at("shape").is_array()) {
        CHECK(std::vector<std::int64_t>(value.shape().begin(), value.shape().end()) ==
              expected.at("shape").get<std::vector<std::int64_t>>());
      }
      if (series.contains("values")) {
        check_value(value, series.at("values").at(i));
      } else {
        check_hashes(value, series.at("sha256").at(i));
      }
    }
  }
  // Wall times of numbers, which no record tells.
  if (expected.at("kind") == "scalar") {
    std::map<std::string, std::vector<double>> times;
    for (const TensorEntry& entry : tensor.entries()) {
      REQUIRE(entry.value.has_value());
      REQUIRE(entry.value->form() == ValueForm::number);
      times[std::string(entry.worker)].push_back(entry.value->wall_time);
    }
    for (const auto& [worker, series] : expected.at("workers").items()) {
      CHECK(times[worker] == series.at("wall_times").get<std::vector<double>>());
    }
  }
}

void check_problems(const Trial& trial, const json& expected) {
  std::vector<std::pair<std::string, std::uint64_t>> got;
  for (const Problem& problem : trial.problems()) {
    if (problem.kind == ProblemKind::damaged) {
      got.emplace_back(problem.file, problem.offset.value_or(0));
    }
  }
  std::vector<std::pair<std::string, std::uint64_t>> wanted;
  for (const json& problem : expected) {
    wanted.emplace_back(problem.at("file").get<std::string>(), problem.at("offset").get<std::uint64_t>());
  }
  std::sort(got.begin(), got.end());
  std::sort(wanted.begin(), wanted.end());
  CHECK(got == wanted);
}

/// Tensor, step, worker and whether it is superseded, of each value.
std::multiset<std::string> values_of(const Trial& trial, bool superseded) {
  std::multiset<std::string> values;
  EntryQuery query;
  query.superseded = superseded;
  query.include_incomplete = true;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    values.insert(std::string(entry.tensor) + " " + std::to_string(entry.step.value) + " " + std::string(entry.worker) +
                  (entry.superseded ? " superseded" : ""));
    return true;
  });
  return values;
}

void check_superseded(const std::string& path, const json& expected) {
  const auto opened = [&](Superseded superseded) {
    TrialOptions options;
    options.as_it_stands = true;
    options.superseded = superseded;
    return Trial::open(path, options);
  };
  std::multiset<std::string> wanted;
  std::map<std::string, std::uint64_t> counts;
  for (const json& one : expected) {
    const std::string tensor = one.at("tensor").get<std::string>();
    wanted.insert(tensor + " " + std::to_string(one.at("step").get<std::int64_t>()) + " " +
                  one.at("worker").get<std::string>() + " superseded");
    ++counts[tensor];
  }
  const Trial trial = opened(Superseded::left_out);
  CHECK(trial.superseded() == counts);
  CHECK(values_of(trial, true) == wanted);
  CHECK(values_of(opened(Superseded::only), false) == wanted);
  std::multiset<std::string> all = values_of(trial, false);
  all.insert(wanted.begin(), wanted.end());
  CHECK(values_of(opened(Superseded::included), false) == all);
  std::vector<std::string> names;
  for (const auto& [tensor, count] : counts) {
    names.push_back(tensor);
  }
  CHECK(trial.tensor_names({.superseded = true}) == names);
}

void check_trial(const std::string& path, const json& expected) {
  CAPTURE(path);
  TrialOptions options;
  options.as_it_stands = true;
  const Trial trial = Trial::open(path, options);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : expected.at("tensors").items()) {
    names.push_back(name);
    check_tensor(trial, name, tensor);
  }
  std::sort(names.begin(), names.end());
  CHECK(trial.tensor_names() == names);
  std::vector<std::int64_t> steps;
  for (const GlobalStep step : trial.steps(true)) {
    steps.push_back(step.value);
  }
  CHECK(steps == expected.at("steps").get<std::vector<std::int64_t>>());
  // Steps out of range are known too.
  options.range_steps = StepRange{.newest = 1};
  CHECK(Trial::open(path, options).listed_steps() == trial.steps(true));
  CHECK(trial.writers() == expected.at("workers").get<std::vector<std::string>>());
  check_problems(trial, expected.at("problems"));
  check_superseded(path, expected.at("superseded"));
}

std::vector<std::string> names_of_logs() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(logs)) {
    if (entry.is_directory()) {
      names.push_back(entry.path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST_CASE("recorded log directories answer as recorded") {
  const std::vector<std::string> names = names_of_logs();
  REQUIRE(names.size() == 35);
  for (const std::string& name : names) {
    CAPTURE(name);
    std::ifstream file(logs / (name + ".expected.json"));
    const json expected = json::parse(file);
    const std::string path = (logs / name).string();
    std::vector<std::string> wanted;
    for (const json& found : expected.at("find")) {
      const auto relative = found.get<std::string>();
      wanted.push_back(relative == "." ? path : path + "/" + relative);
    }
    CHECK(find_trials(path) == wanted);
    if (!expected.at("one").get<bool>()) {
      CHECK_THROWS_AS(Trial::open(path), MissingCollectionFiles);
    }
    if (expected.contains("trials")) {
      for (const auto& [relative, trial] : expected.at("trials").items()) {
        check_trial(relative == "." ? path : path + "/" + relative, trial);
      }
    }
  }
}

}  // namespace
}  // namespace smd
