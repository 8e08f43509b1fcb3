// SPDX-License-Identifier: Apache-2.0
// Values read one after another, and by several threads, each with a reader of its own.
#include "trial_support.hpp"

#include <doctest/doctest.h>

#include <smd/reduction.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

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

/// The values of one step, in the order of their files and places.
struct StepValues {
  void read(const Trial& trial, std::int64_t step, ValueReader& reader) {
    file.clear();
    values.clear();
    problems.clear();
    wanted.clear();
    trial.for_each_entry({.steps = {{GlobalStep(step)}}}, [&](const TensorEntry& entry) {
      file = *entry.value->file;
      wanted.push_back({*entry.value, entry.tensor});
      return true;
    });
    float number = -1;
    reader.read_each(
        wanted,
        [&](std::size_t, Extent& value) {
          const std::span<const std::byte> bytes = value.view(0, value.size());
          REQUIRE(bytes.size() == sizeof number);
          std::memcpy(&number, bytes.data(), sizeof number);
        },
        [&](std::size_t i, const std::optional<Problem>& problem) {
          CHECK(i == values.size() + problems.size());
          if (problem) {
            problems.push_back(*problem);
          } else {
            values.push_back(number);
          }
        });
  }

  std::string file;
  std::vector<WantedValue> wanted;
  std::vector<float> values;
  std::vector<Problem> problems;
};

}  // namespace

TEST_CASE("results of threads are taken in order, with any number of them") {
  const Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  for (const unsigned jobs : {1u, 2u, 7u}) {
    const ReadOptions options = {.jobs = jobs};
    const ParallelLoop loop = reading_loop(trial, 30, options);
    std::vector<StepValues> slots(loop.slots());
    std::vector<float> found;
    parallel_read(
        trial, loop, options,
        [&](const LoopIndex& at, ValueReader& reader) {
          slots[at.slot].read(trial, static_cast<std::int64_t>(at.index), reader);
        },
        [&](const LoopIndex& at) {
          CHECK(found.size() == 6 * at.index);
          const auto& values = slots[at.slot].values;
          found.insert(found.end(), values.begin(), values.end());
          return true;
        });
    REQUIRE(found.size() == 180);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(found[i] == static_cast<float>(100 * (i / 6) + i % 6));
    }
  }
}

TEST_CASE("reading ends when told to, or when a thread throws") {
  const Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  for (const unsigned jobs : {1u, 3u}) {
    const ReadOptions options = {.jobs = jobs};
    const ParallelLoop loop = reading_loop(trial, 30, options);
    std::size_t taken = 0;
    const auto work = [&](const LoopIndex& at, ValueReader&) {
      if (at.index == 20) {
        throw std::runtime_error("no such part");
      }
    };
    parallel_read(trial, loop, options, work, [&](const LoopIndex&) { return ++taken < 5; });
    CHECK(taken == 5);
    CHECK_THROWS_WITH(parallel_read(trial, loop, options, work, [](const LoopIndex&) { return true; }), "no such part");
  }
}

TEST_CASE("a reader goes on after a bad record") {
  const Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  StepValues step;
  ValueReader reader(trial);
  step.read(trial, 3, reader);
  std::string bytes = read_file(sample.dir / step.file);
  const std::uint64_t at = step.wanted[2].place.offset;
  bytes[at] = static_cast<char>(bytes[at] ^ 1);  // its length
  sample.dir.write(step.file, bytes);
  ValueReader again(trial);
  step.read(trial, 3, again);
  CHECK(step.values == std::vector<float>{300, 301, 303, 304, 305});
  REQUIRE(step.problems.size() == 1);
  CHECK(step.problems[0].kind == ProblemKind::damaged);
  CHECK(step.problems[0].file == step.file);
  step.read(trial, 4, again);
  CHECK(step.values == std::vector<float>{400, 401, 402, 403, 404, 405});
}

/// The bytes of a safetensors file with two tensors of one element.
std::string safetensors_file(const std::string& first, float a, const std::string& second, float b) {
  const auto entry = [](const std::string& name, const char* offsets) {
    return "\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":)" + offsets + "}";
  };
  const std::string header = "{" + entry(first, "[0,4]") + "," + entry(second, "[4,8]") + "}";
  std::string bytes = static_cast<char>(header.size()) + std::string(7, '\0') + header + std::string(8, '\0');
  std::memcpy(bytes.data() + bytes.size() - 8, &a, sizeof a);
  std::memcpy(bytes.data() + bytes.size() - 4, &b, sizeof b);
  return bytes;
}

TEST_CASE("a checkpoint that is replaced after its header was read gives no value") {
  const TempDir dir;
  const std::string name = "checkpoint-1/model.safetensors";
  dir.write(name, safetensors_file("a", 1, "b", 2));
  const Trial trial = Trial::open(dir.path());
  const Place place = *trial.tensor("a").entries().front().value;
  const auto read = [&] {
    std::optional<TensorValue> value;
    ValueReader reader(trial);
    const auto problem = reader.read(place, "a", [&](Extent& extent) { value = extent.value(); });
    CHECK(problem.has_value() != value.has_value());
    return problem;
  };
  CHECK_FALSE(read());
  dir.write("new", safetensors_file("b", 2, "a", 1));
  std::filesystem::rename(dir / "new", dir / name);
  CHECK(read() == Problem{ProblemKind::not_found, name, {}, "was replaced while it was read"});
  std::filesystem::remove(dir / name);
  REQUIRE(read());
  CHECK(read()->kind == ProblemKind::absent);
}

TEST_CASE("a file of PyTorch that is written anew while it is read is not called damaged") {
  const TempDir dir;
  const std::string bytes = read_file(SMD_TEST_FIXTURES "/pytorch/facts/step_1.pt");
  dir.write("step_1.pt", bytes);
  const Trial trial = Trial::open(dir.path());
  const std::string tensor = "encoder.embed.weight";
  const Place place = *trial.tensor(tensor).entries().front().value;
  dir.write("step_1.pt", std::string(bytes.size() + 1, 'x'));
  ValueReader reader(trial);
  const auto problem = reader.read(place, tensor, [](Extent& extent) { CHECK_FALSE(extent.value()); });
  CHECK(problem == Problem{ProblemKind::not_found, "step_1.pt", {}, "was replaced while it was read"});
}

TEST_CASE("values of any order are read in that of their places, each for its own index") {
  const Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  std::vector<WantedValue> wanted;
  std::vector<float> expected;
  trial.for_each_entry({}, [&](const TensorEntry& entry) {
    wanted.push_back({*entry.value, entry.tensor});
    expected.push_back(static_cast<float>(100 * entry.step.value + entry.tensor[1] - '0'));
    return true;
  });
  std::reverse(wanted.begin(), wanted.end());
  std::reverse(expected.begin(), expected.end());
  std::vector<float> found(wanted.size());
  std::vector<std::pair<std::string, std::uint64_t>> order;
  ValueReader reader(trial);
  reader.read_each(
      wanted,
      [&](std::size_t i, Extent& value) {
        order.emplace_back(*wanted[i].place.file, wanted[i].place.offset);
        CHECK(value.read(0, std::as_writable_bytes(std::span(&found[i], 1))));
      },
      [](std::size_t, const std::optional<Problem>& problem) { CHECK_FALSE(problem); });
  CHECK(found == expected);
  CHECK(std::is_sorted(order.begin(), order.end()));
}

TEST_CASE("reading ends when a stop is asked for, and says so of each value") {
  const Sample sample;
  const Trial trial = Trial::open(sample.dir.path());
  const TensorEntry entry = trial.tensor("t0").entries().front();
  bool stop = false;
  ValueReader reader(trial, {.stop = [&] { return stop; }});
  CHECK(reader.open(*entry.value, "t0") != nullptr);
  stop = true;
  CHECK(reader.open(*entry.value, "t0") == nullptr);
  REQUIRE(reader.problem());
  CHECK(reader.problem()->kind == ProblemKind::stopped);
}

// The recorded `float_val` of `a` at step 1 holds one element, 1, for a shape of 2 x 3.
TEST_CASE("elements that a writer stored once are known as such") {
  const Trial trial = Trial::open(SMD_RECORDED_TRIALS "/broken/tensor_float_val_one");
  for (const TensorEntry& entry : trial.tensor("a").entries()) {
    if (entry.step != GlobalStep(1)) {
      continue;
    }
    ValueReader reader(trial);
    Extent* const value = reader.open(*entry.value, "a");
    REQUIRE(value != nullptr);
    CHECK(value->shape() == Shape{2, 3});
    CHECK(value->repeats() == 5);
    CHECK(value->view(0, 6).size() == 4);
    std::vector<float> all(6);
    CHECK(value->read(0, std::as_writable_bytes(std::span(all))));
    CHECK(all == std::vector<float>(6, 1));
    std::vector<float> last(2);
    CHECK(value->read(4, std::as_writable_bytes(std::span(last))));
    CHECK(last == std::vector<float>(2, 1));
    Reducer reducer(std::vector<Reduction>{{ReductionKind::sum}});
    CHECK(reducer.add(*value));
    CHECK(reducer.result({ReductionKind::sum}).real == 6);
    const std::vector<Reduction> wanted = {{ReductionKind::sum}, {ReductionKind::median}};
    ValueReducer one_by_one;
    for (int turn = 0; turn < 2; ++turn) {  // nothing is left of the value before
      CHECK(one_by_one.reduce(*value, wanted));
      REQUIRE(one_by_one.results().size() == 2);
      CHECK(one_by_one.results()[0].real == 6);
      CHECK(one_by_one.results()[1].real == 1);
    }
  }
}

}  // namespace smd::test
