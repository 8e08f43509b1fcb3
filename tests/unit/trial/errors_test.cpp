// SPDX-License-Identifier: Apache-2.0
#include "trial_support.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

// Each exception that the public headers promise: its tag, its facts, and one line for a person.
namespace smd::test {
namespace {

/// The exception of type `E` that `act` throws; checks that its message is one line for a person.
template <class E, class Act>
E thrown(Act&& act) {
  try {
    act();
  } catch (const E& error) {
    const std::string text = error.what();
    CAPTURE(text);
    CHECK(text.size() > 10);
    CHECK(text.size() < 400);
    for (const char c : text) {
      CHECK(static_cast<unsigned char>(c) >= 0x20);
    }
    CHECK(text.find("std::") == std::string::npos);
    CHECK(text.find(error.tag()) == std::string::npos);
    return error;
  }
  FAIL("not thrown");
  throw std::logic_error("unreachable");
}

/// Steps 0 and 1 (TRAIN 0, TRAIN 5) of worker_0, running: `a`, `weight` and the mean and shape of `r`.
struct Sample {
  Sample() {
    TrialBuilder builder(dir.path());
    builder.collections();
    builder.step({.step = 0,
                  .mode_step = 0,
                  .tensors = {{"a\n", {1}}, {"weight", {1}}, {"smdebug/reductions/mean/r", {1}}},
                  .shapes = {{"r", {2}}}});
    builder.step({.step = 1, .mode_step = 5, .tensors = {{"weight", {1}}}, .shapes = {}});
  }

  TempDir dir;
  [[nodiscard]] Trial open() const {
    TrialBuilder(dir.path()).collections();
    return Trial::open(dir.path());
  }
};

}  // namespace

TEST_CASE("TensorUnavailable tells the nearest names") {
  const Sample sample;
  const Trial trial = sample.open();
  const auto error = thrown<TensorUnavailable>([&] { static_cast<void>(trial.tensor("wieght")); });
  CHECK(error.tag() == "TensorUnavailable");
  CHECK(error.tensor == "wieght");
  CHECK(error.nearest == Texts{"weight"});
  CHECK(std::string(error.what()) == "'wieght' was not saved; did you mean 'weight'?");
  thrown<TensorUnavailable>([&] { static_cast<void>(trial.tensor("line\nfeed\x1b[31m")); });
}

TEST_CASE("TensorUnavailableForStep tells what was saved instead") {
  const Sample sample;
  const Trial trial = sample.open();
  const auto value =
      thrown<TensorUnavailableForStep>([&] { static_cast<void>(trial.tensor("r").value(GlobalStep(0))); });
  CHECK(value.tag() == "TensorUnavailableForStep");
  CHECK(value.tensor == "r");
  CHECK(value.step == StepKey(GlobalStep(0)));
  CHECK(value.saved == Texts{"mean", "shape"});
  const auto other = thrown<TensorUnavailableForStep>([&] {
    static_cast<void>(trial.tensor("a\n").value({Mode::train, ModeStep(5)}));
  });
  CHECK(other.step == StepKey(Mode::train, ModeStep(5)));
  CHECK(other.saved.empty());
  const auto reduction = thrown<TensorUnavailableForStep>(
      [&] { static_cast<void>(trial.tensor("r").reduction_value(GlobalStep(0), "max", true)); });
  CHECK(std::string(reduction.what()).find("abs_max") != std::string::npos);
  // The value is there, but there is no such reduction to compute.
  CHECK_THROWS_AS(static_cast<void>(trial.tensor("weight").reduction_value(GlobalStep(0), "kurtosis")),
                  InvalidArgument);
  CHECK_THROWS_AS(static_cast<void>(trial.tensor("weight").reduction_value(GlobalStep(0), "")), InvalidArgument);
}

TEST_CASE("StepUnavailable and StepNotYetAvailable") {
  const Sample sample;
  const Trial trial = sample.open();
  const Tensor weight = trial.tensor("weight");
  const auto skipped = thrown<StepUnavailable>([&] { static_cast<void>(weight.value({Mode::train, ModeStep(3)})); });
  CHECK(skipped.tag() == "StepUnavailable");
  CHECK(skipped.step == StepKey(Mode::train, ModeStep(3)));
  CHECK(std::string(skipped.what()) == "TRAIN step 3 was not saved");
  const auto later = thrown<StepNotYetAvailable>([&] { static_cast<void>(weight.shape(GlobalStep(9))); });
  CHECK(later.tag() == "StepNotYetAvailable");
  CHECK(later.step == StepKey(GlobalStep(9)));
  TrialBuilder(sample.dir.path()).end();
  const auto ended = thrown<NoMoreData>([&] { static_cast<void>(weight.shape(GlobalStep(9))); });
  CHECK(ended.tag() == "NoMoreData");
  CHECK(ended.step == StepKey(GlobalStep(9)));
  const StepUnavailable& as_in_the_reference = ended;
  CHECK(as_in_the_reference.step == StepKey(GlobalStep(9)));
  const auto last_step = [&](StepKey step) {
    return thrown<NoMoreData>([&] { static_cast<void>(weight.shape(step)); }).last_step;
  };
  CHECK(ended.last_step == 1);
  CHECK(last_step({Mode::train, ModeStep(6)}) == 5);
  CHECK(last_step({Mode::predict, ModeStep(0)}) == -1);
}

TEST_CASE("InvalidWorker tells who did save it") {
  const Sample sample;
  TrialBuilder(sample.dir.path())
      .step({.step = 1, .worker = "worker_1", .mode_step = 5, .tensors = {{"weight", {2}}}, .shapes = {}});
  const Tensor weight = sample.open().tensor("weight");
  const auto error = thrown<InvalidWorker>([&] { static_cast<void>(weight.value(GlobalStep(1), "worker_7")); });
  CHECK(error.tag() == "InvalidWorker");
  CHECK(error.worker == "worker_7");
  CHECK(error.workers == Texts{"worker_0", "worker_1"});
  thrown<InvalidWorker>([&] { static_cast<void>(weight.reduction_values(GlobalStep(0), "worker_1")); });
  CHECK(weight.values(Mode::global, "worker_7").empty());
}

TEST_CASE("ReadError: a trial that is not there, or no directory, or not ours to read") {
  const TempDir dir;
  const auto missing = thrown<ReadError>([&] { Trial::open(dir / "none"); });
  CHECK(missing.tag() == "NotFound");
  CHECK(missing.problem.kind == ProblemKind::not_found);
  CHECK(missing.problem.file == dir / "none");
  const auto file = thrown<ReadError>([&] { Trial::open(dir.write("file", "GGUF")); });
  CHECK(file.tag() == "NotFound");
  thrown<ReadError>([&] { Trial::open(std::string("a\0b", 3)); });
  if (::geteuid() != 0) {
    TrialBuilder(dir / "closed").collections();
    std::filesystem::permissions(dir / "closed", std::filesystem::perms::none);
    CHECK(thrown<ReadError>([&] { Trial::open(dir / "closed"); }).tag() == "AccessDenied");
  }
}

TEST_CASE("ReadError: a damaged record, with file and byte") {
  const Sample sample;
  const std::string file = events_path(1, "worker_0");
  std::string bytes = read_file(sample.dir / file);
  bytes[8] = static_cast<char>(bytes[8] ^ 1);  // the checksum of the length
  sample.dir.write(file, bytes);
  const Tensor weight = sample.open().tensor("weight");
  for (const auto& error : {thrown<ReadError>([&] { static_cast<void>(weight.value(GlobalStep(1))); }),
                            thrown<ReadError>([&] { static_cast<void>(weight.values()); }),
                            thrown<ReadError>([&] { static_cast<void>(weight.shapes()); })}) {
    CHECK(error.tag() == "Damaged");
    CHECK(error.problem.file == file);
    CHECK(error.problem.offset == 8);
  }
}

TEST_CASE("MissingCollectionFiles: no trial, or a job that has saved nothing") {
  const TempDir dir;
  dir.write("readme\n.txt", "");
  const auto running = thrown<MissingCollectionFiles>([&] { Trial::open(dir.path()); });
  CHECK(running.tag() == "MissingCollectionFiles");
  CHECK(running.path == dir.path());
  CHECK_FALSE(running.ended);
  TrialBuilder(dir.path()).step(simple_step(0)).end();
  CHECK(thrown<MissingCollectionFiles>([&] { Trial::open(dir.path()); }).ended);
}

TEST_CASE("InvalidArgument and MatchLimit") {
  const Sample sample;
  const Trial trial = sample.open();
  CHECK(thrown<InvalidArgument>([&] { Trial::open(""); }).tag() == "Usage");
  thrown<InvalidArgument>([&] { static_cast<void>(trial.tensor_names({.regex = {"(\n"}})); });
  const std::string slow = std::string(40, 'a') + "!";
  TrialBuilder(sample.dir.path()).step({.step = 2, .mode_step = 6, .tensors = {{slow, {1}}}, .shapes = {}});
  for (const TensorQuery& query : {TensorQuery{.regex = {"(a+)+$"}}, TensorQuery{.exclude = {"(a+)+$"}}}) {
    const auto error = thrown<MatchLimit>([&] { static_cast<void>(trial.tensor_names(query)); });
    CHECK(error.tag() == "Usage");
    CHECK(error.pattern == "(a+)+$");
  }
}

TEST_CASE("IndexReaderException: at opening, and at any look after, if asked to be strict") {
  const Sample sample;
  TrialOptions options;
  options.strict = true;
  const Trial trial = Trial::open(sample.dir.path(), options);
  CHECK(numbers(trial.steps()) == Numbers{0, 1});
  const std::string file = index_path(0, "worker_1");
  sample.dir.write(file, "{\n");  // half written: the newest of its worker
  CHECK(numbers(trial.steps()) == Numbers{0, 1});
  TrialBuilder(sample.dir.path()).step(simple_step(3, "worker_1"));
  const auto error = thrown<IndexReaderException>([&] { static_cast<void>(trial.steps()); });
  CHECK(error.tag() == "IndexReaderException");
  CHECK(error.problem.file == file);
  CHECK(error.problem.kind == ProblemKind::damaged);
  CHECK(thrown<IndexReaderException>([&] { Trial::open(sample.dir.path(), options); }).problem == error.problem);
  CHECK(trial.has_tensor("weight"));  // never throws
}

TEST_CASE("messages about damage escape what is in names") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.file("collections/000000000/worker_0_collections.json",
               R"({"collections": {"a\nb": {"name": "c\u001b[31m", "tensor_names": [1]}, "d\ne": 5}})");
  builder.file(
      index_path(0, "worker_0"),
      R"({"meta": {"mode": "TRAIN", "mode_step": 0, "event_file_name": "x\ny"}, "tensor_payload": )"
      R"([{"tensorname": "n\n", "start_idx": -1, "length": 5}, {"tensorname": "o", "start_idx": 0, "length": 50}]})");
  dir.write("index/stray\nname.json", "");
  const Trial trial = Trial::open(dir.path());
  const std::vector<Problem> problems = trial.problems();
  CHECK(problems.size() == 5);
  for (const Problem& problem : problems) {
    for (const char c : to_string(problem)) {
      CHECK(static_cast<unsigned char>(c) >= 0x20);
    }
  }
  thrown<TensorUnavailableForStep>([&] {
    TrialBuilder(dir.path()).end();
    static_cast<void>(trial.tensor("o").value(GlobalStep(0)));
  });
}

}  // namespace smd::test
