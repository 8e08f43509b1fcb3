// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

/// The recorded results of the reference: `NAME.expected.json` beside each trial.
namespace smd::test {

using Json = nlohmann::json;

/// One recorded trial: its path, and the results of queries.
struct Recorded {
  std::string name;
  std::string path;
  Json answers;

  /// Opens it with the environment variables under which the results were recorded.
  [[nodiscard]] Trial open() const;
};

/// Returns the names of all recorded trials (without the damaged ones), in order.
[[nodiscard]] std::vector<std::string> recorded_names();

/// Reads a file once per process, because the files are long.
[[nodiscard]] const Recorded& recorded(const std::string& name);

/// Opens each trial that the reference could open, and calls `check`. An exception fails the test for that trial only.
void for_each_trial(const std::function<void(const Recorded&, const Trial&)>& check);

/// Calls `check` for each tensor and each of its recorded records.
void for_each_record(const Recorded& trial,
                     const std::function<void(const std::string& tensor, const Json& record)>& check);

/// Returns a result, or the correct one next to it: `{"error": …, "correct": …}`.
[[nodiscard]] const Json& right(const Json& answer);
/// Returns the member `key`, or the correct one: `key_correct`.
[[nodiscard]] const Json& right(const Json& answers, const std::string& key);

/// Returns a recorded number: one of JSON, a boolean (0 or 1), or `nan`, `inf` or `-inf`.
[[nodiscard]] double recorded_number(const Json& recorded);

/// Parses `TRAIN` and so on.
[[nodiscard]] Mode mode_of(const Json& text);

/// Returns the elements of some steps as a JSON list, for comparison with a result.
template <class Steps>
[[nodiscard]] Json numbers(const Steps& steps) {
  Json list = Json::array();
  for (const auto step : steps) {
    list.push_back(step.value);
  }
  return list;
}

}  // namespace smd::test
