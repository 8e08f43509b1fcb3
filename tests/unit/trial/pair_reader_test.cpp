// SPDX-License-Identifier: Apache-2.0
#include <smd/pair_reader.hpp>

#include "trial_support.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <memory>

// Values of two trials in step: short and long records, and bare elements, in each combination.
namespace smd::test {
namespace {

/// Keeps what comes.
class Pairs : public PairSink {
 public:
  bool begin(Dtype dtype_a, const Shape& shape_a, Dtype dtype_b, const Shape& shape_b) override {
    a.clear();
    b.clear();
    shapes = {shape_a, shape_b};
    ++begun;
    return more && dtype_a == Dtype::float32 && dtype_b == Dtype::float32;
  }
  bool block(std::span<const std::byte> bytes_a, std::span<const std::byte> bytes_b) override {
    in_step = in_step && bytes_a.size() == bytes_b.size() && bytes_a.size() % sizeof(float) == 0;
    ++blocks;
    append(a, bytes_a);
    append(b, bytes_b);
    return more && blocks != stop_after;
  }

  std::vector<float> a;
  std::vector<float> b;
  std::vector<Shape> shapes;
  int begun = 0;
  int blocks = 0;
  int stop_after = -1;
  bool in_step = true;
  bool more = true;

 private:
  static void append(std::vector<float>& to, std::span<const std::byte> bytes) {
    const std::size_t before = to.size();
    to.resize(before + bytes.size() / sizeof(float));
    std::memcpy(to.data() + before, bytes.data(), bytes.size());
  }
};

std::vector<float> counting(std::size_t n, float start) {
  std::vector<float> numbers(n);
  for (std::size_t i = 0; i < n; ++i) {
    numbers[i] = start + static_cast<float>(i % 100'000);
  }
  return numbers;
}

/// A trial with one value of so many elements at step 0.
Trial trial_of(const TempDir& dir, const std::vector<float>& numbers) {
  TrialBuilder builder(dir.path());
  builder.collections();
  builder.step({.step = 0, .mode_step = 0, .tensors = {{"a", numbers}}, .shapes = {}});
  return Trial::open(dir.path());
}

TensorLocation record_of(const Trial& trial) { return trial.tensor("a").entries().front().value.value(); }

/// The same elements as they stand in the record, which `tensor_content` holds in one piece.
TensorLocation bare_of(const Trial& trial, const std::vector<float>& numbers) {
  const TensorLocation record = record_of(trial);
  const std::string bytes = read_file(trial.path() + "/" + record.file);
  const std::string_view elements(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
  const std::size_t at = bytes.find(elements, record.offset);
  REQUIRE(at != std::string::npos);
  BareValue bare;
  bare.dtype = Dtype::float32;
  bare.shape = {static_cast<std::int64_t>(numbers.size())};
  TensorLocation place = record;
  place.offset = at;
  place.length = elements.size();
  place.bare = std::make_shared<const BareValue>(bare);
  return place;
}

constexpr std::size_t short_value = 1'000;
constexpr std::size_t long_value = 1'500'000;  // 6 MB: longer than what is held whole

}  // namespace

TEST_CASE("pairs of records and bare elements, short and long") {
  for (const std::size_t n : {std::size_t{1}, short_value, long_value}) {
    CAPTURE(n);
    const TempDir dir_a;
    const TempDir dir_b;
    const std::vector<float> numbers_a = counting(n, 1);
    const std::vector<float> numbers_b = counting(n, 7);
    const Trial a = trial_of(dir_a, numbers_a);
    const Trial b = trial_of(dir_b, numbers_b);
    PairReader reader(a, b);
    for (const bool bare_a : {false, true}) {
      for (const bool bare_b : {false, true}) {
        CAPTURE(bare_a);
        CAPTURE(bare_b);
        const TensorLocation place_a = bare_a ? bare_of(a, numbers_a) : record_of(a);
        const TensorLocation place_b = bare_b ? bare_of(b, numbers_b) : record_of(b);
        Pairs pairs;
        const auto problem = reader.read(place_a, "a", place_b, "a", pairs);
        CHECK_FALSE(problem.has_value());
        CHECK(pairs.begun == 1);
        CHECK(pairs.in_step);
        CHECK(pairs.a == numbers_a);
        CHECK(pairs.b == numbers_b);
        Pairs refused;
        refused.more = false;
        CHECK_FALSE(reader.read(place_a, "a", place_b, "a", refused).has_value());
        CHECK(refused.blocks == 0);
        Pairs stopped;
        stopped.stop_after = 1;
        CHECK_FALSE(reader.read(place_a, "a", place_b, "a", stopped).has_value());
        CHECK(stopped.blocks == 1);
      }
    }
  }
}

TEST_CASE("pairs of unlike shapes begin, and no block follows") {
  const TempDir dir_a;
  const TempDir dir_b;
  for (const std::size_t n : {short_value, long_value}) {
    const std::vector<float> numbers_a = counting(n, 1);
    const std::vector<float> numbers_b = counting(n + 1, 1);
    const Trial a = trial_of(dir_a, numbers_a);
    const Trial b = trial_of(dir_b, numbers_b);
    PairReader reader(a, b);
    for (const TensorLocation& place_b : {record_of(b), bare_of(b, numbers_b)}) {
      Pairs pairs;
      CHECK_FALSE(reader.read(record_of(a), "a", place_b, "a", pairs).has_value());
      CHECK(pairs.begun == 1);
      CHECK(pairs.blocks == 0);
      CHECK(pairs.shapes[0] != pairs.shapes[1]);
    }
  }
}

TEST_CASE("a problem says of which value it is") {
  const TempDir dir_a;
  const TempDir dir_b;
  for (const std::size_t n : {short_value, long_value}) {
    const std::vector<float> numbers = counting(n, 1);
    const Trial a = trial_of(dir_a, numbers);
    const Trial b = trial_of(dir_b, numbers);
    PairReader reader(a, b);
    for (const bool bare : {false, true}) {
      const TensorLocation good_a = bare ? bare_of(a, numbers) : record_of(a);
      const TensorLocation good_b = bare ? bare_of(b, numbers) : record_of(b);
      TensorLocation bad_a = good_a;
      bad_a.file = "events/nothing";
      TensorLocation bad_b = good_b;
      bad_b.file = "events/nothing";
      Pairs pairs;
      const auto of_a = reader.read(bad_a, "a", good_b, "a", pairs);
      REQUIRE(of_a.has_value());
      CHECK_FALSE(of_a->of_b);
      const auto of_b = reader.read(good_a, "a", bad_b, "a", pairs);
      REQUIRE(of_b.has_value());
      CHECK(of_b->of_b);
      CHECK(pairs.blocks == 0);
      CHECK_FALSE(reader.read(good_a, "a", good_b, "a", pairs).has_value());  // and the next pair is read
      CHECK(pairs.a == numbers);
    }
  }
}

TEST_CASE("parts of bare elements") {
  const TempDir dir;
  const std::vector<float> numbers = counting(long_value, 1);
  const Trial trial = trial_of(dir, numbers);
  CHECK_FALSE(part_of(record_of(trial), 0, 1).has_value());
  const TensorLocation bare = bare_of(trial, numbers);
  const TensorLocation part = part_of(bare, 1000, 300'000).value();
  PairReader reader(trial, trial);
  Pairs pairs;
  CHECK_FALSE(reader.read(part, "a", part, "a", pairs).has_value());
  CHECK(pairs.shapes[0] == Shape{300'000});
  CHECK(pairs.a == std::vector<float>(numbers.begin() + 1000, numbers.begin() + 301'000));
  CHECK(pairs.b == pairs.a);
}

}  // namespace smd::test
