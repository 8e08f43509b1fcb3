// SPDX-License-Identifier: Apache-2.0
#include "trial_support.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace smd::test {
namespace {

/// A trial of 40 steps, 5 tensors each, and where all its values lie: `tI` of step S holds 100 * S + I.
struct Sample {
  Sample() {
    TrialBuilder builder(dir.path());
    builder.collections();
    for (std::int64_t step = 0; step < 40; ++step) {
      BuiltStep built{.step = step, .mode_step = step, .tensors = {}, .shapes = {}, .checksums = step % 2 == 0};
      for (int i = 0; i < 5; ++i) {
        built.tensors.emplace_back("t" + std::to_string(i), std::vector<float>{static_cast<float>(100 * step + i)});
      }
      builder.step(built);
    }
    builder.end();
    names_from.emplace(open());
    names_from->for_each_entry({}, [&](const TensorEntry& entry) {
      wanted.push_back({*entry.value, entry.tensor});
      expected.push_back(static_cast<float>(100 * entry.step.value + (entry.tensor[1] - '0')));
      return true;
    });
    REQUIRE(wanted.size() == 200);
  }
  [[nodiscard]] Trial open() const { return Trial::open(dir.path()); }

  TempDir dir;
  std::optional<Trial> names_from;
  [[nodiscard]] Place& place(std::size_t i) { return wanted[i].place; }

  std::vector<WantedValue> wanted;  // the names are those of tensors of `names_from`
  std::vector<float> expected;
};

}  // namespace

TEST_CASE("results come in the order asked for, with any number of threads") {
  const Sample sample;
  const Trial trial = sample.open();
  for (const unsigned jobs : {0u, 1u, 2u, 3u, 16u}) {
    std::vector<float> values;
    trial.read(sample.wanted,
               [&](std::size_t i, ReadResult&& result) {
                 CHECK(i == values.size());
                 REQUIRE(result.value);
                 values.push_back(first_float(*result.value));
                 CHECK(result.wall_time == 1.7e9 + static_cast<double>(i / 5));  // as the builder writes it
                 return true;
               },
               {jobs});
    CHECK(values == sample.expected);
  }
}

TEST_CASE("reading stops when told to, or when the caller throws") {
  const Sample sample;
  const Trial trial = sample.open();
  for (const unsigned jobs : {1u, 4u}) {
    std::size_t taken = 0;
    trial.read(sample.wanted, [&](std::size_t, ReadResult&&) { return ++taken < 7; }, {jobs});
    CHECK(taken == 7);
    const auto thrower = [](std::size_t i, ReadResult&&) -> bool {
      return i < 50 ? true : throw std::runtime_error("enough");
    };
    CHECK_THROWS_WITH(trial.read(sample.wanted, thrower, {jobs}), "enough");
  }
}

TEST_CASE("an empty place is refused") {
  const Sample sample;
  const Trial trial = sample.open();
  std::vector<WantedValue> wanted = sample.wanted;
  wanted[150].place = Place();
  for (const unsigned jobs : {1u, 4u}) {
    CHECK_THROWS_AS(trial.read(wanted, [](std::size_t, ReadResult&&) { return true; }, {jobs}), InvalidArgument);
  }
  ValueReader reader(trial);
  CHECK_THROWS_WITH_AS(static_cast<void>(reader.open(Place(), "t0")),
                       "the Place is empty; take that of an entry, or TrialSnapshot::place", InvalidArgument);
}

TEST_CASE("a bad record among good ones costs only itself") {
  const Sample sample;
  std::vector<WantedValue> wanted = sample.wanted;
  const Place flipped = wanted[52].place;
  std::string bytes = read_file(sample.dir / *flipped.file);
  bytes[flipped.offset + 20] = static_cast<char>(bytes[flipped.offset + 20] ^ 1);  // of step 10
  sample.dir.write(*flipped.file, bytes);
  wanted[7].name = "t9";  // not the name of the record there
  wanted[100].place.file = std::make_shared<const std::string>("events/none.tfevents");
  wanted[120].place.offset = ~std::uint64_t{0};
  wanted[121].place.length = ~std::uint64_t{0};
  const Trial trial = sample.open();
  std::vector<std::size_t> bad;
  trial.read(wanted,
             [&](std::size_t i, ReadResult&& result) {
               CHECK(result.value.has_value() != result.problem.has_value());
               if (result.problem) {
                 bad.push_back(i);
                 CHECK(result.problem->file == *wanted[i].place.file);
               } else {
                 CHECK(first_float(*result.value) == sample.expected[i]);
               }
               return true;
             },
             {2});
  CHECK(bad == std::vector<std::size_t>{7, 52, 100, 120, 121});
}

TEST_CASE("a checksum is looked at unless told otherwise") {
  const Sample sample;
  const Place& place = sample.wanted[50].place;  // step 10: protected
  std::string bytes = read_file(sample.dir / *place.file);
  bytes[place.offset + place.length - 5] = static_cast<char>(bytes[place.offset + place.length - 5] ^ 0x40);
  sample.dir.write(*place.file, bytes);
  CHECK_THROWS_AS(static_cast<void>(sample.open().tensor("t0").value(GlobalStep(10))), ReadError);
  TrialOptions options;
  options.verify = false;
  // What was flipped lies in a record's last field, plugin data: the value is still there.
  CHECK(first_float(Trial::open(sample.dir.path(), options).tensor("t0").value(GlobalStep(10))) == 1000);
}

TEST_CASE("a value may be narrowed, or left unread, when it is open") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections();
  builder.step({.step = 0, .mode_step = 0, .tensors = {{"a", {1, 2, 3}}, {"b", {4, 5, 6}}}, .shapes = {}});
  const Trial trial = Trial::open(dir.path());
  std::vector<WantedValue> wanted;
  for (const char* const name : {"a", "b"}) {
    wanted.push_back({*trial.tensor(name).entries().front().value, name});
  }
  std::size_t taken = 0;
  trial.read(
      wanted,
      [&](std::size_t i, ReadResult&& result) {
        ++taken;
        CHECK_FALSE(result.problem);
        CHECK(result.value.has_value() == (i == 1));
        if (result.value) {
          CHECK(result.value->shape() == Shape{2});
          CHECK(first_float(*result.value) == 6);
        }
        return true;
      },
      {},
      [](std::size_t i, Extent& value) {
        value.narrow({{2}, {-2}, 2});  // [::-2]
        return i == 1;
      });
  CHECK(taken == 2);
  trial.read({}, [](std::size_t, ReadResult&&) -> bool { throw std::logic_error("must not be called"); });
}

TEST_CASE("an event file that is missing, or too short: by what is known of the job") {
  for (const bool missing : {true, false}) {
    for (const bool ended : {true, false}) {
      for (const bool went_on : {true, false}) {
        const TempDir dir;
        TrialBuilder builder(dir.path());
        builder.collections().step(simple_step(0)).step(simple_step(1));
        const std::string file = events_path(1, "worker_0");
        std::filesystem::remove(dir / file);
        if (!missing) {
          builder.file(file, encode_step(simple_step(1)).events.substr(0, 30));
        }
        if (went_on) {
          builder.step(simple_step(2));
        }
        builder.step(simple_step(2, "worker_1"));  // another worker going on tells nothing
        if (ended) {
          builder.end();
        }
        const Trial trial = Trial::open(dir.path());
        std::vector<WantedValue> wanted;
        trial.for_each_entry({.steps = {{GlobalStep(1)}}}, [&](const TensorEntry& entry) {
          wanted.push_back({*entry.value, "a"});
          return true;
        });
        CAPTURE(missing);
        CAPTURE(ended);
        CAPTURE(went_on);
        trial.read(wanted, [&](std::size_t, ReadResult&& result) {
          REQUIRE(result.problem);
          const ProblemKind final_kind = missing ? ProblemKind::absent : ProblemKind::damaged;
          CHECK(result.problem->kind == (ended || went_on ? final_kind : ProblemKind::not_yet));
          CHECK(result.problem->file == file);
          return true;
        });
        const Tensor a = trial.tensor("a");
        if (missing || (!ended && !went_on)) {  // as in the reference, which waits first
          try {
            static_cast<void>(a.value(GlobalStep(1)));
            FAIL("the value is not there");
          } catch (const TensorUnavailableForStep& error) {  // with the tag that the commands print
            CHECK(error.tag() == (ended || went_on ? "TensorUnavailableForStep" : "StepNotYetAvailable"));
            CHECK(error.missing->file == file);
          }
        } else {
          CHECK_THROWS_AS(static_cast<void>(a.value(GlobalStep(1))), ReadError);
        }
        CHECK(first_float(a.value(GlobalStep(0))) == 0);
      }
    }
  }
}

}  // namespace smd::test
