// SPDX-License-Identifier: Apache-2.0
#include "recorded.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <stdexcept>
#include <string_view>

namespace smd::test {
namespace {

constexpr std::string_view answers_suffix = ".expected.json";

/// Sets environment variables, and restores them.
class Environment {
 public:
  explicit Environment(const Json& variables) : variables_(variables) {
    for (const auto& [name, value] : variables_.items()) {
      setenv(name.c_str(), value.get<std::string>().c_str(), 1);
    }
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const auto& [name, value] : variables_.items()) {
      unsetenv(name.c_str());
    }
  }

 private:
  Json variables_;
};

}  // namespace

Trial Recorded::open() const {
  const Environment environment(answers.at("env"));
  return Trial::open(path);
}

std::vector<std::string> recorded_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SMD_RECORDED_TRIALS)) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(answers_suffix)) {
      names.push_back(file.substr(0, file.size() - answers_suffix.size()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

const Recorded& recorded(const std::string& name) {
  static std::map<std::string, Recorded> known;
  if (const auto at = known.find(name); at != known.end()) {
    return at->second;
  }
  const std::string path = std::string(SMD_RECORDED_TRIALS) + "/" + name;
  std::ifstream file(path + std::string(answers_suffix));
  if (!file) {
    throw std::runtime_error("no recorded answers for " + name);
  }
  return known.emplace(name, Recorded{name, path, Json::parse(file)}).first->second;
}

void for_each_trial(const std::function<void(const Recorded&, const Trial&)>& check) {
  for (const std::string& name : recorded_names()) {
    const Recorded& trial = recorded(name);
    if (!trial.answers.at("open").contains("ok")) {
      continue;  // see unopened_test.cpp
    }
    INFO("trial ", name);
    try {
      check(trial, trial.open());
    } catch (const std::exception& error) {
      FAIL_CHECK(error.what());
    }
  }
}

void for_each_record(const Recorded& trial,
                     const std::function<void(const std::string& tensor, const Json& record)>& check) {
  for (const auto& [tensor_key, answers] : trial.answers.at("tensors").items()) {
    const auto& tensor = tensor_key;
    for (const Json& record : answers.at("records")) {
      INFO("tensor ", tensor, ", step ", record.at("global_step"), ", ", right(record, "worker"));
      try {
        check(tensor, record);
      } catch (const std::exception& error) {
        FAIL_CHECK(error.what());
      }
    }
  }
}

const Json& right(const Json& answer) {
  return answer.is_object() && answer.contains("correct") ? answer.at("correct") : answer;
}

const Json& right(const Json& answers, const std::string& key) {
  const std::string correct = key + "_correct";
  return answers.contains(correct) ? answers.at(correct) : right(answers.at(key));
}

double recorded_number(const Json& recorded) {
  if (recorded.is_boolean()) {
    return recorded.get<bool>() ? 1 : 0;
  }
  if (!recorded.is_string()) {
    return recorded.get<double>();
  }
  const std::string text = recorded;
  return text == "nan" ? std::numeric_limits<double>::quiet_NaN() : text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

Mode mode_of(const Json& text) { return parse_mode(text.get<std::string>()).value(); }

}  // namespace smd::test
