// SPDX-License-Identifier: Apache-2.0
#include "select/selection.hpp"

#include "cli/operands.hpp"
#include "cli/reading_options.hpp"
#include "select/nothing_selected.hpp"
#include "select/tensor_steps.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

using namespace smd::tool;  // NOLINT: a test of most of the header

namespace {

using Steps = std::vector<std::int64_t>;

// What was saved in good-pytorch-digits, by its index files (the job has ended):
//   global 0 5 10 14 19 21 26 31 38
//   train  0 5 10       15 20 25
//   eval          0  5           10
const std::string digits = SMD_TEST_FIXTURES "/good-pytorch-digits";
// good-running: global 0 to 11, each saved; eval 0 1 2 at 3, 7, 11; train 0 to 8 at the others; no end marker.
const std::string running = SMD_TEST_FIXTURES "/good-running";

struct Outcome {
  Steps steps;
  std::string messages;
  ExitStatus status = ExitStatus::yes;
};

SelectionOptions options_for(std::string_view spec, std::vector<smd::Mode> modes) {
  SelectionOptions options;
  options.modes = std::move(modes);
  options.steps = StepSpec::parse(spec);
  return options;
}

// Messages are caught by way of the log file; at info level so that the silent ones show too.
Outcome with_messages(const std::string& path, const SelectionOptions& options,
                      const std::function<void(smd::Trial&, Diagnostics&, Outcome&)>& act) {
  const smd::test::TempDir dir;
  setenv("SMDEBUG_LOG_PATH", (dir / "log").c_str(), 1);
  Outcome outcome;
  {
    Diagnostics messages("test");
    with_trial(path, ReadingOptions().trial_options(range_to_read(options.steps, options.modes)), messages,
               [&](smd::Trial& trial) { act(trial, messages, outcome); });
    outcome.status = messages.status();
  }
  unsetenv("SMDEBUG_LOG_PATH");
  outcome.messages = smd::test::read_file(dir / "log");
  return outcome;
}

Outcome select(const std::string& path, const SelectionOptions& options) {
  return with_messages(path, options, [&](smd::Trial& trial, Diagnostics& messages, Outcome& outcome) {
    for (const SelectedStep& step : select_steps(trial, options, StepSpec(), messages)) {
      outcome.steps.push_back(step.step.value);
    }
  });
}

Outcome select(const std::string& path, std::string_view spec, std::vector<smd::Mode> modes = {smd::Mode::global}) {
  return select(path, options_for(spec, std::move(modes)));
}

}  // namespace

TEST_CASE("steps of a trial, global and by mode") {
  using smd::Mode;
  CHECK(select(digits, "all").steps == Steps{0, 5, 10, 14, 19, 21, 26, 31, 38});
  CHECK(select(digits, "last").steps == Steps{38});
  CHECK(select(digits, "first").steps == Steps{0});
  CHECK(select(digits, "-3:").steps == Steps{26, 31, 38});
  CHECK(select(digits, "5:20").steps == Steps{5, 10, 14, 19});
  CHECK(select(digits, "5:20:7").steps == Steps{5, 19});  // 5, 12, 19
  CHECK(select(digits, "31,5,first,-1").steps == Steps{0, 5, 31, 38});
  CHECK(select(digits, "last", {Mode::train}).steps == Steps{31});
  CHECK(select(digits, "-2:", {Mode::eval}).steps == Steps{19, 38});
  CHECK(select(digits, "first", {Mode::eval}).steps == Steps{14});
  CHECK(select(digits, "5", {Mode::train}).steps == Steps{5});
  CHECK(select(digits, "5", {Mode::eval}).steps == Steps{19});
  CHECK(select(digits, "5", {Mode::train, Mode::eval}).steps == Steps{5, 19});
  CHECK(select(digits, "15:", {Mode::train}).steps == Steps{21, 26, 31});
  CHECK(select(running, "last", {Mode::train}).steps == Steps{10});
  CHECK(select(running, "all").status == ExitStatus::yes);

  SelectionOptions every = options_for("all", {Mode::global});
  every.every = 4;
  CHECK(select(digits, every).steps == Steps{0, 19, 38});
}

TEST_CASE("each step knows its numbers") {
  const SelectionOptions options = options_for("last", {smd::Mode::eval});
  const Outcome outcome = with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Outcome&) {
    const std::vector<SelectedStep> steps = select_steps(trial, options, StepSpec(), messages);
    REQUIRE(steps.size() == 1);
    CHECK(steps.front() == SelectedStep{smd::GlobalStep(38), smd::Mode::eval, smd::ModeStep(10)});
  });
  CHECK(outcome.messages.empty());
}

TEST_CASE("only what a SPEC needs is read") {
  const SelectionOptions options = options_for("last", {smd::Mode::global});
  (void)with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Outcome&) {
    CHECK(select_steps(trial, options, StepSpec(), messages).size() == 1);
    CHECK(trial.steps(true) == std::vector<smd::GlobalStep>{smd::GlobalStep(38)});
    CHECK(trial.listed_steps().size() == 9);
  });
}

TEST_CASE("steps that are not there") {
  using smd::Mode;
  Outcome outcome = select(digits, "7");
  CHECK(outcome.status == ExitStatus::no);
  CHECK(outcome.steps.empty());
  CHECK(outcome.messages == "test: StepUnavailable: step 7 was not saved; nearest: 5 and 10\n");
  outcome = select(digits, "20,5");
  CHECK(outcome.steps == Steps{5});
  CHECK(outcome.status == ExitStatus::no);
  CHECK(outcome.messages ==
        "test: StepUnavailable: step 20 was not saved; nearest: 19 and 21; there is a step 20 in mode train\n");
  outcome = select(digits, "39");
  CHECK(outcome.status == ExitStatus::no);
  CHECK(outcome.messages == "test: NoMoreData: step 39 never came, the job has ended: the last is 38\n");
  outcome = select(running, "12");
  CHECK(outcome.messages == "test: StepNotYetAvailable: step 12 is not saved yet: the last is 11\n");
  outcome = select(digits, "-10");
  CHECK(outcome.messages == "test: StepUnavailable: there is no step -10: 9 steps were saved\n");
  outcome = select(digits, "all", {Mode::predict});
  CHECK(outcome.status == ExitStatus::no);
  CHECK(outcome.messages == "test: StepUnavailable: no step was saved in mode predict; modes saved: train, eval\n");
  outcome = select(digits, "100:200");
  CHECK(outcome.status == ExitStatus::no);
  CHECK(outcome.steps.empty());
  CHECK(outcome.messages == "test: StepUnavailable: " + digits +
                                ": nothing is selected: no step saved is among those asked for; saved: 9 steps, 0 to "
                                "38 (train: 6 steps, 0 to "
                                "25; eval: 3 steps, 0 to 10); smd-ls --steps lists them\n");
}

TEST_CASE("what is counted from an end counts each tensor's own steps") {
  const std::string gradient = "gradient/DigitNet_fc.bias";  // at train steps only: global 0 5 10 21 26 31
  const std::string bias = "DigitNet_fc.bias";               // at all nine
  const auto own = [&](const SelectionOptions& options, const std::string& tensor) {
    Steps steps;
    Outcome outcome = with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Outcome&) {
      const std::vector<std::string> tensors = {bias, gradient};
      const TensorSteps selected = select_steps_of_tensors(
          trial, options, StepSpec(), tensors, [](const smd::TensorEntry& entry) { return entry.value.has_value(); },
          messages);
      for (const SelectedStep& step : selected.steps) {
        if (selected.wants(tensor, step.step)) {
          steps.push_back(step.step.value);
        }
      }
    });
    outcome.steps = steps;
    return outcome;
  };
  // -n: of tensors known by name only the steps needed are read, of others all were.
  const auto named = [&](std::string_view spec, std::vector<smd::Mode> modes = {smd::Mode::global}) {
    SelectionOptions options = options_for(spec, std::move(modes));
    options.names = {bias, gradient};
    return options;
  };
  using smd::Mode;
  CHECK(own(named("last"), bias).steps == Steps{38});
  CHECK(own(named("last"), gradient).steps == Steps{31});
  CHECK(own(named("-2:"), gradient).steps == Steps{26, 31});
  CHECK(own(named("-3:-1"), gradient).steps == Steps{21, 26});
  CHECK(own(named("first"), gradient).steps == Steps{0});
  CHECK(own(named("14,last"), bias).steps == Steps{14, 38});
  CHECK(own(named("last", {Mode::train}), bias).steps == Steps{31});
  CHECK(own(named("last", {Mode::train, Mode::eval}), bias).steps == Steps{31, 38});
  CHECK(own(named("last", {Mode::eval}), gradient).steps.empty());
  SelectionOptions every = named("-6:");
  every.every = 3;
  CHECK(own(every, gradient).steps == Steps{0, 21});
  CHECK(own(every, bias).steps == Steps{14, 26});  // of 14 19 21 26 31 38
  const Outcome outcome = own(named("-7"), bias);
  CHECK(outcome.steps == Steps{10});  // of 0 5 10 14 19 21 26 31 38
  CHECK(outcome.status == ExitStatus::no);
  CHECK(outcome.messages ==
        "test: StepUnavailable: there is no step -7 of 'gradient/DigitNet_fc.bias': it was saved at 6 steps\n");
}

TEST_CASE("what to read at first where each tensor's own steps count") {
  SelectionOptions options = options_for("last", {smd::Mode::global});
  options.names = {"loss"};
  CHECK(range_to_read_of_tensors(options, *options.steps).newest() == 1);
  options.regexes = {"loss"};  // only the index files tell which tensors these are
  CHECK_FALSE(range_to_read_of_tensors(options, *options.steps).newest().has_value());
}

TEST_CASE("why nothing is selected, with numbers") {
  const auto why = [](const std::string& path, const SelectionOptions& options) {
    NothingSelected result;
    (void)with_messages(path, options,
                        [&](smd::Trial& trial, Diagnostics&, Outcome&) { result = why_nothing(trial, options); });
    return result;
  };
  using smd::Mode;
  SelectionOptions options = options_for("last", {Mode::global});
  options.collections = {"gradients"};
  NothingSelected reason = why(digits, options);
  CHECK(reason.tag == "TensorUnavailableForStep");
  CHECK(reason.text ==
        "4 tensors match, but were not saved at the steps asked for; saved at 6 steps, 0 to 31 (train 0 to 25)");
  options = options_for("40", {Mode::global});
  options.names = {"DigitNet_fc.bias"};
  CHECK(why(digits, options).text ==
        "'DigitNet_fc.bias' was not saved at the steps asked for; saved at 9 steps, 0 to 38 (train: 6 steps, 0 to 25; "
        "eval: 3 steps, 0 to 10)");
  options = options_for("all", {Mode::global});
  options.regexes = {"wieght"};
  reason = why(digits, options);
  CHECK(reason.tag == "TensorUnavailable");
  CHECK(reason.text == "no tensor matches 'wieght'; did you mean 'weight'?; 19 tensors were saved, smd-ls lists them");
  options.regexes = {"Digit*/weight"};
  CHECK(why(digits, options).text.find("not a glob: try '^Digit.*/weight$'") != std::string::npos);
  options.regexes = {"bias"};
  options.excludes = {"b"};
  CHECK(why(digits, options).text.starts_with("-x drops all 4 tensors selected"));
}

TEST_CASE("tensors by name, pattern and collection") {
  SelectionOptions options;
  options.modes = {smd::Mode::global};
  const auto names = [&] {
    std::vector<std::string> result;
    const Outcome outcome = with_messages(running, options, [&](smd::Trial& trial, Diagnostics& messages, Outcome&) {
      result = select_tensors(trial, options, messages);
    });
    return std::pair(result, outcome);
  };
  using Names = std::vector<std::string>;
  options.names = {"loss"};
  CHECK(names().first == Names{"loss"});
  options.names = {"los"};
  CHECK(names().first.empty());
  CHECK(names().second.status == ExitStatus::no);
  CHECK(names().second.messages.starts_with("test: TensorUnavailable: 'los' was not saved; did you mean 'loss'"));
  options.names.clear();
  options.collections = {"losess"};
  CHECK(names().first.empty());
  CHECK(names().second.status == ExitStatus::no);
  CHECK(
      names().second.messages.starts_with("test: NotFound: collection 'losess' is not defined; did you mean 'losses'"));
  options.collections.clear();
  options.regexes = {"^lo"};
  CHECK(names().first == Names{"loss"});
  options.excludes = {"ss$"};
  CHECK(names().first.empty());
  options.excludes = {"("};
  CHECK_THROWS_AS((void)names(), UsageError);
}

TEST_CASE("workers that do not exist are named with those that do") {
  SelectionOptions options;
  options.modes = {smd::Mode::global};
  options.worker = "worker_7";
  const auto check = [&] {
    return with_messages(running, options, [&](smd::Trial& trial, Diagnostics& messages, Outcome&) {
      CHECK(check_worker(trial, options, messages) == (options.worker == "worker_0"));
    });
  };
  const Outcome outcome = check();
  CHECK(outcome.status == ExitStatus::no);
  CHECK(outcome.messages == "test: InvalidWorker: there is no worker 'worker_7'; workers: 'worker_0'\n");
  options.worker = "worker_0";
  CHECK(check().messages.empty());
}

TEST_CASE("trials that cannot be opened cost only themselves") {
  const auto open = [](const std::string& path) {
    return with_messages(path, {}, [](smd::Trial&, Diagnostics&, Outcome&) { FAIL("opened"); });
  };
  CHECK(open("/no/such/trial").status == ExitStatus::unreadable);
  CHECK(open("/no/such/trial").messages.starts_with("test: NotFound: "));
  const smd::test::TempDir empty;
  CHECK(open(empty.path()).status == ExitStatus::unreadable);
  CHECK(open(empty.path()).messages.starts_with("test: MissingCollectionFiles: "));
  CHECK(open(empty.path()).messages.find("smd-wait") != std::string::npos);
}

TEST_CASE("operands as they stand") {
  std::vector<std::string> seen;
  const auto visit = [&](const std::string& operand) {
    seen.push_back(operand);
    return seen.size() < 2;
  };
  const std::vector<std::string> operands = {"a", "b", "c"};
  Diagnostics messages("test");
  for_each_operand(operands, false, messages, visit);
  CHECK(seen == std::vector<std::string>{"a", "b"});
  const std::vector<std::string> misplaced = {"-", "a"};
  CHECK_THROWS_AS(for_each_operand(misplaced, false, messages, visit), UsageError);
  CHECK(may_be_several(operands));
  CHECK(may_be_several(std::vector<std::string>{"-"}));
  CHECK_FALSE(may_be_several(std::vector<std::string>{"a"}));
}
