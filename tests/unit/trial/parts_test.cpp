// SPDX-License-Identifier: Apache-2.0
// Work in parts, and the reader that each thread has for it.
#include "trial_support.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <stdexcept>

namespace smd::test {
namespace {

/// A trial of 30 steps, 6 tensors each: `tI` of step S holds 100 * S + I.
struct Sample {
  Sample() {
    TrialBuilder builder(dir.path());
    builder.collections();
    for (std::int64_t step = 0; step < 30; ++step) {
      BuiltStep built{.step = step, .mode_step = step, .tensors = {}, .shapes = {}};
      for (int i = 0; i < 6; ++i) {
        built.tensors.emplace_back("t" + std::to_string(i), std::vector<float>{static_cast<float>(100 * step + i)});
      }
      builder.step(built);
    }
    builder.end();
  }

  TempDir dir;
};

/// The last number it was given.
struct NumberSink : BlockSink {
  bool begin(Dtype dtype, const Shape&) override { return dtype == Dtype::float32; }
  bool block(std::span<const std::byte> bytes) override {
    REQUIRE(bytes.size() == sizeof number);
    std::memcpy(&number, bytes.data(), sizeof number);
    return true;
  }
  float number = -1;
};

/// Reads all values of one step.
struct StepPart : TrialPart {
  StepPart(const Trial& of, std::int64_t at) : trial(of), step(at) {}
  void work(BlockReader& reader) override {
    if (step == fails_at) {
      throw std::runtime_error("no such part");
    }
    trial.for_each_entry({.steps = {{GlobalStep(step)}}}, [&](const TensorEntry& entry) {
      file = entry.value->file;
      records.push_back({entry.value->offset, entry.value->length, entry.tensor});
      return true;
    });
    NumberSink sink;
    reader.read(file, records, sink, [&](std::size_t i, std::optional<Problem>&& problem) {
      CHECK(i == values.size() + problems.size());
      if (problem) {
        problems.push_back(std::move(*problem));
      } else {
        values.push_back(sink.number);
      }
      return values.size() < most;
    });
  }

  const Trial& trial;
  std::int64_t step;
  std::int64_t fails_at = -1;
  std::size_t most = 100;
  std::string file;
  std::vector<RecordRange> records;
  std::vector<float> values;
  std::vector<Problem> problems;
};

}  // namespace

TEST_CASE("parts are taken in their order, with any number of threads") {
  const Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  for (const unsigned jobs : {1u, 2u, 7u}) {
    std::vector<float> found;
    trial.parallel_for_each(
        30, [&](std::size_t i) { return std::make_unique<StepPart>(trial, static_cast<std::int64_t>(i)); },
        [&](std::size_t i, std::unique_ptr<TrialPart>&& part) {
          CHECK(found.size() == 6 * i);
          const auto& values = static_cast<StepPart&>(*part).values;
          found.insert(found.end(), values.begin(), values.end());
          return true;
        },
        {jobs});
    REQUIRE(found.size() == 180);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i] == static_cast<float>(100 * (i / 6) + i % 6));
    }
  }
}

TEST_CASE("parts end when told to, or when one throws") {
  const Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  for (const unsigned jobs : {1u, 3u}) {
    std::size_t taken = 0;
    const auto make = [&](std::size_t i) {
      auto part = std::make_unique<StepPart>(trial, static_cast<std::int64_t>(i));
      part->fails_at = 20;
      return part;
    };
    trial.parallel_for_each(30, make, [&](std::size_t, std::unique_ptr<TrialPart>&&) { return ++taken < 5; }, {jobs});
    CHECK(taken == 5);
    CHECK_THROWS_WITH(
        trial.parallel_for_each(30, make, [](std::size_t, std::unique_ptr<TrialPart>&&) { return true; }, {jobs}),
        "no such part");
  }
}

TEST_CASE("a reader goes on after a bad record, and stops when told to") {
  const Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  BlockReader reader(trial);
  StepPart good(trial, 3);
  good.work(reader);
  std::string bytes = read_file(sample.dir / good.file);
  bytes[good.records[2].offset] = static_cast<char>(bytes[good.records[2].offset] ^ 1);  // its length
  sample.dir.write(good.file, bytes);
  BlockReader again(trial);
  StepPart bad(trial, 3);
  bad.work(again);
  CHECK(bad.values == std::vector<float>{300, 301, 303, 304, 305});
  REQUIRE(bad.problems.size() == 1);
  CHECK(bad.problems[0].kind == ProblemKind::damaged);
  CHECK(bad.problems[0].file == good.file);
  StepPart some(trial, 4);
  some.most = 2;
  some.work(again);
  CHECK(some.values == std::vector<float>{400, 401});
}

}  // namespace smd::test
