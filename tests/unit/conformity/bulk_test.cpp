// SPDX-License-Identifier: Apache-2.0
#include "recorded.hpp"
#include "support/sha256.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

// Functions that read many values at once return the same as single reads.
namespace smd::test {
namespace {

using Key = std::tuple<std::int64_t, std::string, std::string>;

std::string recorded_digest(const Json& record) {
  const Json& value = record.contains("written") ? record.at("written") : record.at("value");
  return value.value("sha256", "");
}

/// Returns the SHA-256 of each recorded value, by global step, tensor and worker.
std::map<Key, std::string> recorded_digests(const Recorded& trial) {
  std::map<Key, std::string> digests;
  for_each_record(trial, [&](const std::string& tensor, const Json& record) {
    const std::string digest = recorded_digest(record);
    if (!digest.empty()) {
      digests[{record.at("global_step"), tensor, right(record, "worker")}] = digest;
    }
    if (trial.name == "repeats" && record.contains("written")) {
      digests[{3, tensor, "worker_0"}] = record.at("value").at("sha256");  // see records_test.cpp
    }
  });
  return digests;
}

}  // namespace

TEST_CASE("reading all locations at once returns the recorded values in order") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    std::vector<WantedValue> wanted;
    std::vector<Key> keys;
    EntryQuery query;
    query.include_incomplete = true;
    opened.for_each_entry(query, [&](const TensorEntry& entry) {
      if (entry.value) {
        wanted.push_back({*entry.value, entry.tensor});
        keys.emplace_back(entry.step.value, std::string(entry.tensor), std::string(entry.worker));
      }
      return true;
    });
    const auto digests = recorded_digests(trial);
    REQUIRE(keys.size() == digests.size());
    std::size_t next = 0;
    opened.read(wanted, [&](std::size_t i, ReadResult&& result) {
      CHECK(i == next++);
      CAPTURE(wanted[i].name);
      REQUIRE(result.value);
      CHECK(!result.problem);
      CHECK(result.wall_time > 0);
      CHECK(sha256(result.value->bytes()) == digests.at(keys[i]));
      return true;
    });
    CHECK(next == keys.size());
  });
}

TEST_CASE("reading in blocks returns the recorded values") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    const auto digests = recorded_digests(trial);
    ValueReader reader(opened);
    std::size_t count = 0;
    EntryQuery query;
    query.include_incomplete = true;
    opened.for_each_entry(query, [&](const TensorEntry& entry) {
      if (entry.value) {
        INFO("tensor ", std::string(entry.tensor), ", step ", entry.step.value);
        std::vector<std::byte> bytes;
        CHECK(!reader.read(*entry.value, entry.tensor, [&](Extent& value) {
          CHECK(bytes.empty());  // nothing is read twice
          CHECK(value.for_each_block(
              [&](std::span<const std::byte> block) { bytes.insert(bytes.end(), block.begin(), block.end()); }));
        }));
        CHECK(sha256(bytes) == digests.at({entry.step.value, std::string(entry.tensor), std::string(entry.worker)}));
        ++count;
      }
      return true;
    });
    CHECK(count == digests.size());
  });
}

// As in the reference: for each complete step of the mode, the first worker by name that has the tensor.
TEST_CASE("values of a mode are those of the records") {
  for_each_trial([](const Recorded& trial, const Trial& opened) {
    std::map<std::tuple<std::string, Mode, std::int64_t>, std::map<std::string, std::string>> by_step;
    for_each_record(trial, [&](const std::string& tensor, const Json& record) {
      by_step[{tensor, mode_of(record.at("mode")), record.at("mode_step")}][right(record, "worker")] =
          recorded_digest(record);
    });
    for (const std::string tensor : trial.answers.at("tensor_names")) {
      for (const Mode mode : {Mode::train, Mode::eval, Mode::predict}) {
        INFO(tensor, " ", to_string(mode));
        std::map<std::int64_t, std::string> expected;
        for (const std::int64_t step : trial.answers.at("steps").at(to_string(mode)).at("complete")) {
          const auto at = by_step.find({tensor, mode, step});
          if (at != by_step.end() && !at->second.begin()->second.empty()) {
            expected[step] = at->second.begin()->second;
          }
        }
        std::map<std::int64_t, std::string> found;
        for (const auto& [step, value] : opened.tensor(tensor).values(mode)) {
          found[step.value] = sha256(value.bytes());
        }
        CHECK(found == expected);
      }
    }
  });
}

}  // namespace smd::test
