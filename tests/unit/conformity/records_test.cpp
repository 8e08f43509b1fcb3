// SPDX-License-Identifier: Apache-2.0
#include "elements.hpp"
#include "recorded.hpp"
#include "support/sha256.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

// Values, shapes and saved reductions: every record of every trial.
namespace smd::test {
namespace {

/// Number of comparisons in one trial. Printed, and compared with the number of recorded results.
struct Tally {
  std::size_t records = 0;
  std::size_t values = 0;
  std::size_t without_value = 0;
  std::size_t shapes = 0;
  std::size_t reductions = 0;
};

/// Returns the value that a record should have: what was written, if the reference reads something else; otherwise its
/// result.
const Json& expected_value(const Json& record) {
  return record.contains("written") ? record.at("written") : record.at("value");
}

bool has_value(const Json& record) { return !expected_value(record).contains("error"); }

void check_value(const TensorValue& value, const Json& expected) {
  CHECK(Json(to_string(value.dtype())) == expected.at("dtype"));
  CHECK(Json(value.shape()) == expected.at("shape"));
  CHECK(sha256(value.bytes()) == expected.at("sha256").get<std::string>());
  if (expected.contains("nbytes")) {  // not for strings
    CHECK(value.bytes().size() == expected.at("nbytes").get<std::size_t>());
  }
  CHECK(first_elements(value.view(), 8) == expected.at("head"));
}

/// Checks a saved number: one element, of shape () or (1).
void check_reduction(const TensorValue& value, const Json& expected) {
  CHECK(Json(to_string(value.dtype())) == expected.at("dtype"));
  CHECK(Json(value.shape()) == expected.at("shape"));
  CHECK(first_elements(value.view(), 2) == Json::array({expected.at("value")}));
}

std::pair<std::string_view, bool> split_abs(std::string_view reduction) {
  const bool abs = reduction.starts_with("abs_");
  return {reduction.substr(abs ? 4 : 0), abs};
}

void check_reductions(const Tensor& tensor, StepKey step, const std::string& worker, const Json& record, Tally& tally) {
  const Json stored = record.value("stored", Json::object());
  const auto all = tensor.reduction_values(step, worker);
  CHECK(all.size() == stored.size());
  for (const auto& [name_key, expected] : stored.items()) {
    const auto& name = name_key;
    CAPTURE(name);
    const auto [reduction, abs] = split_abs(name);
    check_reduction(tensor.reduction_value(step, reduction, abs, worker), expected);
    REQUIRE(all.contains(name));
    check_reduction(all.at(name), expected);
    ++tally.reductions;
  }
  const auto entries = tensor.entries();
  const bool has_value = std::any_of(entries.begin(), entries.end(), [&](const TensorEntry& entry) {
    return entry.step == GlobalStep(record.at("global_step")) && entry.worker == worker && entry.value.has_value();
  });
  if (!stored.contains("mean") && !has_value) {
    CHECK_THROWS_AS((void)tensor.reduction_value(step, "mean", false, worker), TensorUnavailableForStep);
  }
}

void check_shape(const Tensor& tensor, StepKey step, const std::string& worker, const Json& record, Tally& tally) {
  if (record.at("shape").is_array() || has_value(record)) {
    // If the reference confuses a record of `repeats` with that of a later step, it returns that step's shape too.
    const bool confused = record.contains("written") && record.at("value").contains("shape") &&
                          record.at("shape") == record.at("value").at("shape");
    const bool own = record.at("shape").is_array() && !confused;
    CHECK(Json(tensor.shape(step, worker)) == (own ? record.at("shape") : expected_value(record).at("shape")));
    ++tally.shapes;
  } else {
    CHECK_THROWS_AS((void)tensor.shape(step, worker), TensorUnavailableForStep);
  }
}

void check_record(const Tensor& tensor, StepKey step, const std::string& worker, const Json& record, Tally& tally) {
  if (has_value(record)) {
    check_value(tensor.value(step, worker), expected_value(record));
    ++tally.values;
  } else {
    // The only correct error of the reference: only the shape or reductions were saved, no value.
    REQUIRE(record.at("value").at("error") == "TensorUnavailableForStep");
    CHECK_THROWS_AS((void)tensor.value(step, worker), TensorUnavailableForStep);
    ++tally.without_value;
  }
  check_shape(tensor, step, worker, record, tally);
  check_reductions(tensor, step, worker, record, tally);
  ++tally.records;
}

std::size_t listed_records(const Recorded& trial) {
  std::size_t count = 0;
  for (const Json& tensor : trial.answers.at("tensors")) {
    count += tensor.at("records").size();
  }
  return count;
}

}  // namespace

TEST_CASE("every record is as recorded, by global step and by mode step") {
  std::size_t total = 0;
  for_each_trial([&](const Recorded& trial, const Trial& opened) {
    Tally global;
    Tally mode;
    for_each_record(trial, [&](const std::string& name, const Json& record) {
      const Tensor tensor = opened.tensor(name);
      const std::string worker = right(record, "worker");
      check_record(tensor, GlobalStep(record.at("global_step")), worker, record, global);
      const StepKey mode_step(mode_of(record.at("mode")), ModeStep(record.at("mode_step")));
      check_record(tensor, mode_step, worker, record, mode);
    });
    MESSAGE(trial.name, ": ", global.records, " records: ", global.values, " values, ", global.without_value,
            " without, ", global.shapes, " shapes, ", global.reductions, " saved reductions");
    CHECK(global.records == listed_records(trial));
    CHECK(mode.records == listed_records(trial));
    CHECK(global.values + global.without_value == global.records);
    total += global.records;
  });
  CHECK(total == 1594);  // the number of recorded results
}

TEST_CASE("the trial has exactly the records that are listed") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    using Place = std::tuple<std::int64_t, std::string, std::string>;
    std::vector<Place> expected;
    for_each_record(trial, [&](const std::string& tensor, const Json& record) {
      expected.emplace_back(record.at("global_step"), tensor, right(record, "worker"));
    });
    if (trial.name == "repeats") {
      // Mode step TRAIN 0 was repeated at global step 3; the reference lists it under step 0 (docs/format.md).
      expected.emplace_back(3, "twice", "worker_0");
    }
    std::sort(expected.begin(), expected.end());
    std::vector<Place> found;
    EntryQuery query;
    query.include_incomplete = true;
    opened.for_each_entry(query, [&](const TensorEntry& entry) {
      found.emplace_back(entry.step.value, std::string(entry.tensor), std::string(entry.worker));
      return true;
    });
    // Already sorted by step, tensor, worker.
    CHECK(found.size() == expected.size());
    CHECK(found == expected);
  });
}

TEST_CASE("a repeated mode step keeps both values") {
  const Recorded& trial = recorded("repeats");
  const Trial opened = trial.open();
  const Json& record = trial.answers.at("tensors").at("twice").at("records").at(0);
  REQUIRE(record.at("global_step") == 0);
  REQUIRE(record.contains("written"));
  // For step 0 the reference returns the value written at step 3; the value written at step 0 is recorded too.
  check_value(opened.tensor("twice").value(GlobalStep(3)), record.at("value"));
  check_value(opened.tensor("twice").value(GlobalStep(0)), record.at("written"));
}

TEST_CASE("steps and original name of each tensor are as recorded") {
  std::size_t tensors = 0;
  for_each_trial([&](const Recorded& trial, const Trial& opened) {
    for (const auto& [name_key, answer] : trial.answers.at("tensors").items()) {
      const auto& name = name_key;
      CAPTURE(name);
      const Tensor tensor = opened.tensor(name);
      const Json& original = answer.at("original_name");
      CHECK((tensor.original_name() ? Json(*tensor.original_name()) : Json()) == original);
      for (const auto& [mode_key, steps] : answer.at("steps").items()) {
        const auto& mode = mode_key;
        CAPTURE(mode);
        Json complete = right(steps, "complete");
        Json all = right(steps, "all");
        if (trial.name == "repeats" && name == "twice" && mode == "GLOBAL") {
          complete.push_back(3);  // see above
          all.push_back(3);
        }
        CHECK(numbers(tensor.steps(mode_of(mode))) == complete);
        CHECK(numbers(tensor.steps(mode_of(mode), true)) == all);
        if (mode == "GLOBAL") {
          CHECK(numbers(tensor.steps()) == complete);
          CHECK(numbers(tensor.steps(true)) == all);
        }
      }
      ++tensors;
    }
  });
  CHECK(tensors == 410);  // the number of recorded results
}

TEST_CASE("workers of each tensor and step are those of the records; the first is used if none is named") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    std::map<std::pair<std::string, std::int64_t>, std::map<std::string, const Json*>> by_step;
    for_each_record(trial, [&](const std::string& tensor, const Json& record) {
      by_step[{tensor, record.at("global_step")}][right(record, "worker")] = &record;
    });
    for (const auto& [place_key, records] : by_step) {
      const auto& place = place_key;
      INFO("tensor ", place.first, ", step ", place.second);
      const GlobalStep step(place.second);
      const Tensor tensor = opened.tensor(place.first);
      std::vector<std::string> workers;
      for (const auto& [worker, record] : records) {
        workers.push_back(worker);
      }
      CHECK(Json(tensor.workers(step)) == Json(workers));
      const Json& first = *records.begin()->second;
      if (has_value(first)) {
        check_value(tensor.value(step), expected_value(first));
        CHECK_THROWS_AS((void)tensor.value(step, "no such worker"), InvalidWorker);
      }
    }
  });
}

}  // namespace smd::test
