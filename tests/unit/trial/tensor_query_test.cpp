// SPDX-License-Identifier: Apache-2.0
#include "trial/trial_state.hpp"
#include "trial_support.hpp"

#include <doctest/doctest.h>

namespace smd::test {
namespace {

/// Step 0 TRAIN: w, b, loss. Step 1 EVAL: w, acc. Step 2 TRAIN: w, the shape of s, the mean of r.
struct Sample {
  Sample() {
    TrialBuilder builder(dir.path());
    builder.file("collections/000000000/worker_0_collections.json",
                 R"({"collections": {"weights": {"tensor_names": ["w", "never"], "include_regex": ["^lo"]},
                                     "scores": {"tensor_names": [], "include_regex": ["acc$"]}}})");
    builder.step({.step = 0, .mode_step = 0, .tensors = {{"w", {1}}, {"b", {1}}, {"loss", {1}}}, .shapes = {}});
    builder.step({.step = 1, .mode = Mode::eval, .mode_step = 0, .tensors = {{"w", {1}}, {"acc", {1}}}, .shapes = {}});
    builder.step({.step = 2,
                  .mode_step = 1,
                  .tensors = {{"w", {1}}, {"smdebug/reductions/mean/r", {1}}},
                  .shapes = {{"s", {2}}}});
  }
  [[nodiscard]] Trial open() const { return Trial::open(dir.path()); }

  TempDir dir;
};

}  // namespace

TEST_CASE("names, patterns and collections unite; the rest narrows") {
  const Sample sample;
  const Trial trial = sample.open();
  CHECK(trial.tensor_names() == Texts{"acc", "b", "loss", "r", "s", "w"});
  CHECK(trial.tensor_names({.names = {"b"}}) == Texts{"b"});
  CHECK(trial.tensor_names({.names = {"b"}, .regex = {"^a"}, .collections = {"weights"}}) ==
        Texts{"acc", "b", "loss", "w"});
  CHECK(trial.tensor_names({.regex = {"s"}}) == Texts{"loss", "s"});
  CHECK(trial.tensor_names({.regex = {"s"}, .exclude = {"ss"}}) == Texts{"s"});
  CHECK(trial.tensor_names({.exclude = {"."}}).empty());
  CHECK(trial.tensor_names({.collections = {"weights", "scores"}}) == Texts{"acc", "loss", "w"});
  CHECK(trial.tensor_names({.step = GlobalStep(1), .collections = {"weights"}}) == Texts{"w"});
  CHECK(trial.tensor_names({.collections = {"typo"}}).empty());
}

TEST_CASE("a saved reduction is asked for by name and abs, or as it is stored") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.collections("worker_0", 1);
  builder.step({.step = 0,
                .tensors = {{"smdebug/reductions/mean/w", {1}}, {"smdebug/reductions/abs_mean/w", {2}}},
                .shapes = {}});
  const Trial trial = Trial::open(dir.path());
  const auto values = trial.tensor("w").reduction_values(GlobalStep(0));
  CHECK(values.size() == 2);
  CHECK(first_float(values.at("mean")) == 1);
  CHECK(first_float(values.at("abs_mean")) == 2);
}

TEST_CASE("a trial's name is the last part of its path, unless it is given one") {
  const Sample sample;
  const std::string leaf = sample.dir.path().substr(sample.dir.path().rfind('/') + 1);
  CHECK(sample.open().name() == leaf);
  CHECK(Trial::open(sample.dir.path() + "//").name() == leaf);
  CHECK(Trial::open(sample.dir.path(), {.name = "mine"}).name() == "mine");
}

TEST_CASE("workers of a tensor at a step at which it was not saved") {
  const Sample sample;
  const Trial trial = sample.open();
  CHECK(trial.tensor("b").workers(GlobalStep(0)) == Texts{"worker_0"});
  CHECK_THROWS_AS(static_cast<void>(trial.tensor("b").workers(GlobalStep(1))), TensorUnavailableForStep);
  CHECK_THROWS_AS(static_cast<void>(trial.tensor("b").workers(GlobalStep(99))), TensorUnavailableForStep);
}

TEST_CASE("what was saved at a step, in a mode, in both") {
  const Sample sample;
  const Trial trial = sample.open();
  CHECK(trial.tensor_names({.step = GlobalStep(1)}) == Texts{"acc", "w"});
  CHECK(trial.tensor_names({.step = GlobalStep(2)}) == Texts{"r", "s", "w"});
  CHECK(trial.tensor_names({.step = StepKey(Mode::eval, ModeStep(0))}) == Texts{"acc", "w"});
  CHECK(trial.tensor_names({.mode = Mode::train}) == Texts{"b", "loss", "r", "s", "w"});
  CHECK(trial.tensor_names({.mode = Mode::global}) == trial.tensor_names());
  CHECK(trial.tensor_names({.step = GlobalStep(1), .mode = Mode::train}).empty());
  CHECK(trial.tensor_names({.step = GlobalStep(0), .regex = {"b|acc"}}) == Texts{"b"});
}

TEST_CASE("what is not known selects nothing and is no error") {
  const Sample sample;
  const Trial trial = sample.open();
  CHECK(trial.tensor_names({.names = {"never"}}).empty());
  CHECK(trial.tensor_names({.collections = {"no such collection"}}).empty());
  CHECK(trial.tensor_names({.step = GlobalStep(99)}).empty());
  CHECK(trial.tensor_names({.step = StepKey(Mode::predict, ModeStep(0))}).empty());
  CHECK(trial.tensor_names({.mode = Mode::predict}).empty());
  CHECK_FALSE(trial.collection("no such collection"));
  CHECK_FALSE(trial.has_tensor("never"));
  CHECK_FALSE(trial.global_step(Mode::global, ModeStep(999)));
  CHECK_FALSE(trial.mode(GlobalStep(999)));
  CHECK(trial.summaries({"never"}).empty());
  std::size_t entries = 0;
  trial.for_each_entry({.tensors = {"never"}}, [&](const TensorEntry&) { return ++entries != 0; });
  CHECK(entries == 0);
}

TEST_CASE("entries come by step, tensor and worker, and narrow as asked") {
  const Sample sample;
  const Trial trial = sample.open();
  const auto entries = [&](const EntryQuery& query) {
    Texts found;
    trial.for_each_entry(query, [&](const TensorEntry& entry) {
      found.push_back(std::to_string(entry.step.value) + std::string(entry.tensor));
      return true;
    });
    return found;
  };
  CHECK(entries({}) == Texts{"0b", "0loss", "0w", "1acc", "1w", "2r", "2s", "2w"});
  CHECK(entries({.mode = Mode::eval}) == Texts{"1acc", "1w"});
  CHECK(entries({.tensors = {"w", "s"}, .steps = {{GlobalStep(0), GlobalStep(2)}}}) == Texts{"0w", "2s", "2w"});
  CHECK(entries({.workers = {"worker_1"}}).empty());
  std::size_t seen = 0;
  trial.for_each_entry({}, [&](const TensorEntry&) { return ++seen < 3; });
  CHECK(seen == 3);
}

TEST_CASE("summaries and step rows count what is there") {
  const Sample sample;
  const Trial trial = sample.open();
  const std::vector<TensorSummary> rows = trial.summaries({"w", "s", "r"});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].tensor == "r");
  CHECK(rows[0].saved == Texts{"mean"});
  CHECK(rows[1].tensor == "s");
  CHECK(rows[1].shape == Shape{2});
  CHECK(rows[1].bytes == 0);
  CHECK(rows[2].tensor == "w");
  CHECK(rows[2].steps == 3);
  CHECK(rows[2].first_step == GlobalStep(0));
  CHECK(rows[2].last_step == GlobalStep(2));
  CHECK(rows[2].modes == std::vector<Mode>{Mode::train, Mode::eval});
  const std::vector<StepInfo> steps = trial.step_infos();
  REQUIRE(steps.size() == 3);
  CHECK(steps[2].tensors == 3);
  // Without gaps, the records of a step are its event file.
  CHECK(steps[0].bytes == read_file(sample.dir / events_path(0, "worker_0")).size());
}

TEST_CASE("earlier steps of a tensor") {
  const Sample sample;
  const Tensor w = sample.open().tensor("w");
  CHECK(numbers(w.prev_steps(GlobalStep(2), 2)) == Numbers{1, 2});
  CHECK(numbers(w.prev_steps(GlobalStep(1), 5)) == Numbers{0, 1});
  CHECK(numbers(w.prev_steps({Mode::train, ModeStep(7)}, 1)) == Numbers{1});
  CHECK(w.prev_steps(GlobalStep(-1), 3).empty());
  CHECK(w.prev_steps(GlobalStep(2), 0).empty());
  CHECK(numbers(w.prev_steps(GlobalStep(1))) == Numbers{0, 1});
}

TEST_CASE("a collection's bad patterns affect nothing else and are reported once") {
  const TempDir dir;
  TrialBuilder builder(dir.path());
  builder.file("collections/000000000/worker_0_collections.json",
               R"({"collections": {"c": {"tensor_names": ["b"], "include_regex": ["(", "(a+)+$", "^lo"]}}})");
  const std::string slow = std::string(40, 'a') + "!";
  builder.step({.step = 0, .tensors = {{"b", {1}}, {"loss", {1}}, {slow, {1}}}, .shapes = {}});
  const Trial trial = Trial::open(dir.path());
  for (int again = 0; again < 2; ++again) {
    CHECK(trial.tensor_names({.collections = {"c"}}) == Texts{"b", "loss"});
  }
  const std::vector<Problem> problems = trial.problems();
  REQUIRE(problems.size() == 2);
  CHECK(problems[0].kind == ProblemKind::damaged);
  CHECK(problems[0].text.find("'(' does not compile") != std::string::npos);
  CHECK(problems[1].text.find("'(a+)+$' needs too many steps") != std::string::npos);
}

/// On each of 30 names a pattern takes more than 2^12 steps, and far fewer than a name may.
struct SlowSample {
  SlowSample() {
    TrialBuilder builder(dir.path());
    builder.file("collections/000000000/worker_0_collections.json",
                 R"({"collections": {"c": {"tensor_names": ["0", "loss"], "include_regex": ["^(?:a|a)+[^b]0"]},
                                     "d": {"tensor_names": ["0"], "include_regex": ["^lo"]}}})");
    BuiltStep step{.step = 0, .tensors = {{"0", {1}}, {"loss", {1}}}, .shapes = {}};
    for (int i = 10; i < 40; ++i) {
      step.tensors.push_back({std::string(12, 'a') + "b0/" + std::to_string(i), {1}});
    }
    builder.step(step);
  }

  TempDir dir;
};

TEST_CASE("a caller's patterns have a limit together") {
  const SlowSample sample;
  const Trial trial = Trial::open(sample.dir.path());
  auto& state = detail::TrialAccess::state(trial);
  detail::MatchBudget budget(50'000);
  const TensorQuery query{.regex = {"^loss$", "^(?:a|a)+[^b]0"}};
  try {
    (void)select_ids(state, *state.current(), query, budget);
    FAIL("it has an answer");
  } catch (const MatchLimit& error) {
    CHECK(error.pattern == query.regex[1]);
    const std::string text = error.what();
    CHECK(
        text.starts_with("the patterns together need more than 1000000000 steps (pattern_question_steps); at "
                         "'^(?:a|a)+[^b]0' on 'aaaaaaaaaaaab0/"));
    CHECK(text.ends_with("' none were left: make them simpler"));
  }
  CHECK(trial.tensor_names(query) == Texts{"loss"});  // the next question has a budget of its own
}

TEST_CASE("the patterns of a trial's collections have a limit together") {
  const SlowSample sample;
  const Trial trial = Trial::open(sample.dir.path(), {.auto_refresh = false});
  for (int again = 0; again < 2; ++again) {
    CHECK(trial.tensor_names({.collections = {"c"}}) == Texts{"0", "loss"});
    CHECK(trial.tensor_names({.collections = {"d"}}) == Texts{"0", "loss"});
  }
  CHECK(trial.problems().empty());

  const Trial other = Trial::open(sample.dir.path(), {.auto_refresh = false});
  // As if those of another collection had taken all but so many.
  detail::TrialAccess::state(other).current()->asked_before.took("e", detail::MatchBudget(50'000));
  for (int again = 0; again < 2; ++again) {
    CHECK(other.tensor_names({.collections = {"c"}}) == Texts{"0", "loss"});
    CHECK(other.tensor_names({.collections = {"d"}}) == Texts{"0"});
  }
  const std::vector<Problem> problems = other.problems();
  REQUIRE(problems.size() == 3);
  for (const Problem& problem : problems) {
    CHECK(problem.kind == ProblemKind::damaged);
    CHECK(
        problem.text.ends_with("the patterns of the trial's collections need too many steps together "
                               "(pattern_trial_steps); its members by name are still used"));
  }
  CHECK(problems[0].text.starts_with("collection 'c': pattern '^(?:a|a)+[^b]0' was not looked for in all names"));
  CHECK(problems[1].text.starts_with("collection 'd': pattern '^lo' was not looked for:"));
}

TEST_CASE("a caller's bad pattern is the caller's error") {
  const Sample sample;
  const Trial trial = sample.open();
  CHECK_THROWS_AS(static_cast<void>(trial.tensor_names({.regex = {"("}})), InvalidArgument);
  CHECK_THROWS_AS(static_cast<void>(trial.tensor_names({.exclude = {"["}})), InvalidArgument);
  CHECK_THROWS_AS(static_cast<void>(trial.tensor_names({.regex = {std::string(70000, 'x')}})), InvalidArgument);
}

}  // namespace smd::test
