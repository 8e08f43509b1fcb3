// SPDX-License-Identifier: Apache-2.0
#include "select/select_steps.hpp"

#include "selection_support.hpp"

#include <doctest/doctest.h>

using namespace smd::tool;        // NOLINT: a test of most of the header
using namespace smd::tool::test;  // NOLINT

namespace {

Reported select(const std::string& path, const SelectionOptions& options) {
  return with_messages(path, options, [&](smd::Trial& trial, Diagnostics& messages, Reported& outcome) {
    for (const SelectedStep& step : select_steps(trial, options, StepSpec(), messages)) {
      outcome.steps.push_back(step.step.value);
    }
  });
}

Reported select(const std::string& path, std::string_view spec, std::vector<smd::Mode> modes = {smd::Mode::global}) {
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
  const Reported outcome = with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Reported&) {
    const std::vector<SelectedStep> steps = select_steps(trial, options, StepSpec(), messages);
    REQUIRE(steps.size() == 1);
    CHECK(steps.front() == SelectedStep{smd::GlobalStep(38), smd::Mode::eval, smd::ModeStep(10)});
  });
  CHECK(outcome.messages.empty());
}

TEST_CASE("only what a SPEC needs is read") {
  const SelectionOptions options = options_for("last", {smd::Mode::global});
  (void)with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Reported&) {
    CHECK(select_steps(trial, options, StepSpec(), messages).size() == 1);
    CHECK(trial.steps(true) == std::vector<smd::GlobalStep>{smd::GlobalStep(38)});
    CHECK(trial.listed_steps().size() == 9);
  });
}

TEST_CASE("steps that are not there") {
  using smd::Mode;
  Reported outcome = select(digits, "7");
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

TEST_CASE("what to read at first follows from steps and modes") {
  using smd::Mode;
  const std::vector<Mode> global = {Mode::global};
  const std::vector<Mode> train = {Mode::train};
  CHECK(ranges_to_read(StepSpec::parse("last"), global).front().newest == 1);
  CHECK(ranges_to_read(StepSpec::parse("-3:"), train).front().newest == 3);
  CHECK(ranges_to_read(StepSpec::parse("5000:8000"), global).front().first == smd::GlobalStep(5000));
  CHECK(ranges_to_read(StepSpec::parse("5000:8000"), global).front().end == smd::GlobalStep(8000));
  // Mode step 5000 may be any global step.
  CHECK_FALSE(ranges_to_read(StepSpec::parse("5000:8000"), train).front().first.has_value());
  CHECK_FALSE(ranges_to_read(std::nullopt, global).front().newest.has_value());
}

TEST_CASE("what is counted from an end counts each tensor's own steps") {
  const std::string gradient = "gradient/DigitNet_fc.bias";  // at train steps only: global 0 5 10 21 26 31
  const std::string bias = "DigitNet_fc.bias";               // at all nine
  const auto own = [&](const SelectionOptions& options, const std::string& tensor) {
    Steps steps;
    Reported outcome = with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Reported&) {
      const std::vector<std::string> tensors = {bias, gradient};
      const TensorSteps selected = select_steps_of_tensors(
          trial, options, StepSpec(), tensors, [](const smd::TensorEntry& entry) { return entry.value.has_value(); },
          &messages);
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
  const Reported outcome = own(named("-7"), bias);
  CHECK(outcome.steps == Steps{10});  // of 0 5 10 14 19 21 26 31 38
  CHECK(outcome.status == ExitStatus::no);
  CHECK(outcome.messages ==
        "test: StepUnavailable: there is no step -7 of 'gradient/DigitNet_fc.bias': it was saved at 6 steps\n");
}

TEST_CASE("what to read at first where each tensor's own steps count") {
  SelectionOptions options = options_for("last", {smd::Mode::global});
  options.names = {"loss"};
  CHECK(range_to_read_of_tensors(options, *options.steps).newest == 1);
  options.regexes = {"loss"};  // only the index files tell which tensors these are
  CHECK_FALSE(range_to_read_of_tensors(options, *options.steps).newest.has_value());
}
