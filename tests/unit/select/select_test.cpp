// SPDX-License-Identifier: Apache-2.0
#include "select/select.hpp"

#include "selection_support.hpp"

#include <doctest/doctest.h>

using namespace smd::tool;        // NOLINT: a test of most of the header
using namespace smd::tool::test;  // NOLINT

namespace {

const std::string bias = "DigitNet_fc.bias";               // at all nine steps
const std::string gradient = "gradient/DigitNet_fc.bias";  // at train steps only: global 0 5 10 21 26 31

Steps numbers_of(const Selection& selection) {
  Steps numbers;
  for (const SelectedStep& step : selection.steps.steps) {
    numbers.push_back(step.step.value);
  }
  return numbers;
}

// The message of a selection that holds nothing.
std::string refusal(const SelectionOptions& options, const SelectionNeeds& needs) {
  const Reported reported = with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Reported&) {
    CHECK(select(trial, options, needs, messages).empty());
  });
  CHECK(reported.status == ExitStatus::no);
  return reported.messages;
}

}  // namespace

TEST_CASE("lists of everything are made if they are needed") {
  const SelectionOptions options = options_for("all", {smd::Mode::global});
  const Reported reported = with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Reported&) {
    const Selection bare = select(trial, options, {.lists = false}, messages);
    CHECK(bare.everything());
    CHECK_FALSE(bare.empty());
    CHECK(bare.tensors.empty());
    CHECK_FALSE(query_for(bare, options).steps.has_value());
    const Selection listed = select(trial, options, {}, messages);
    CHECK(listed.tensors.size() == 19);
    CHECK(numbers_of(listed) == Steps{0, 5, 10, 14, 19, 21, 26, 31, 38});
    CHECK(query_for(listed, options).steps->size() == 9);
  });
  CHECK(reported.messages.empty());
}

TEST_CASE("last is the trial's last step, or each tensor's own if its entries count") {
  SelectionOptions options = options_for("last", {smd::Mode::global});
  options.regexes = {"DigitNet_fc.bias$"};
  (void)with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Reported&) {
    const Selection of_trial = select(trial, options, {}, messages);
    CHECK(numbers_of(of_trial) == Steps{38});
    const SelectionNeeds needs = {.counts = [](const smd::TensorEntry& entry) { return entry.value.has_value(); }};
    trial.load_range(smd::StepRange());
    const Selection of_tensors = select(trial, options, needs, messages);
    CHECK(of_tensors.tensors == std::vector<std::string>{bias, gradient});
    CHECK(numbers_of(of_tensors) == Steps{31, 38});
    CHECK(of_tensors.steps.wants(gradient, smd::GlobalStep(31)));
    CHECK_FALSE(of_tensors.steps.wants(gradient, smd::GlobalStep(38)));
  });
}

TEST_CASE("a named tensor is selected in any mode, and found in the one asked for") {
  SelectionOptions options = options_for("last", {smd::Mode::train});
  options.names = {bias};
  const SelectionNeeds needs = {.counts = [](const smd::TensorEntry& entry) { return entry.value.has_value(); }};
  const Reported reported = with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Reported&) {
    CHECK(trial.steps(true).size() == 1);  // the last step, an evaluation
    const Selection last = select(trial, options, needs, messages);
    CHECK(last.tensors == options.names);
    CHECK(numbers_of(last) == Steps{31});
    options.modes = {smd::Mode::eval};
    options.names = {gradient};
    CHECK(select_tensors(trial, options, messages) == options.names);
    options.names.clear();
    options.regexes = {"^gradient/"};
    CHECK(select_tensors(trial, options, messages).empty());
  });
  CHECK(reported.messages.empty());
}

TEST_CASE("what is not there is named in one order: steps, worker, tensors") {
  SelectionOptions options = options_for("7", {smd::Mode::global});
  options.worker = "nobody";
  options.names = {"los"};
  for (const bool lists : {false, true}) {
    const SelectionNeeds needs = {.lists = lists};
    options.steps = StepSpec::parse("7");
    options.worker = "nobody";
    CHECK(refusal(options, needs) == "test: StepUnavailable: step 7 was not saved; nearest: 5 and 10\n");
    options.steps = StepSpec::parse("5");
    CHECK(refusal(options, needs).starts_with("test: InvalidWorker: there is no worker 'nobody'"));
    options.worker.reset();
    CHECK(refusal(options, needs).starts_with("test: TensorUnavailable: 'los' was not saved"));
  }
}

TEST_CASE("at one step, the tensors saved at it are selected") {
  SelectionOptions options = options_for("all", {smd::Mode::global});
  options.names = {gradient};
  const Reported reported = with_messages(digits, options, [&](smd::Trial& trial, Diagnostics&, Reported&) {
    CHECK(select_at(trial, options, {}, {smd::GlobalStep(38), smd::Mode::eval, smd::ModeStep(10)}).empty());
    const Selection train = select_at(trial, options, {}, {smd::GlobalStep(31), smd::Mode::train, smd::ModeStep(25)});
    CHECK(train.tensors == std::vector<std::string>{gradient});
    CHECK(numbers_of(train) == Steps{31});
  });
  CHECK(reported.messages.empty());
}
