// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

/// The recorded answers of the reference: `NAME.expected.json` beside each trial.
namespace smd::test {

using Json = nlohmann::json;

/// One recorded trial: where it lies, and what was answered about it.
struct Recorded {
  std::string name;
  std::string path;
  Json answers;

  /// Opens it with the environment variables under which the answers were recorded.
  [[nodiscard]] Trial open() const;
};

/// Names of all recorded trials (not the damaged ones), in order.
[[nodiscard]] std::vector<std::string> recorded_names();

/// Read once a process: the answers are long.
[[nodiscard]] const Recorded& recorded(const std::string& name);

/// Calls `check` for each trial that the reference could open, and opens it. What `check` throws fails the test for
/// that trial only.
void for_each_trial(const std::function<void(const Recorded&, const Trial&)>& check);

/// Calls `check` for each tensor and each of its records in the answers.
void for_each_record(const Recorded& trial,
                     const std::function<void(const std::string& tensor, const Json& record)>& check);

/// An answer, or what stands beside it as the right one: `{"error": …, "correct": …}`.
[[nodiscard]] const Json& right(const Json& answer);
/// The member `key`, or the right one: `key_correct`.
[[nodiscard]] const Json& right(const Json& answers, const std::string& key);

/// `TRAIN` and so on.
[[nodiscard]] Mode mode_of(const Json& text);

/// The elements of some steps as a JSON list, to be compared with an answer.
template <class Steps>
[[nodiscard]] Json numbers(const Steps& steps) {
  Json list = Json::array();
  for (const auto step : steps) {
    list.push_back(step.value);
  }
  return list;
}

}  // namespace smd::test
