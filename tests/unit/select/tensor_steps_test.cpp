// SPDX-License-Identifier: Apache-2.0
#include "select/tensor_steps.hpp"

#include "selection_support.hpp"

#include <doctest/doctest.h>

using namespace smd::tool;        // NOLINT: a test of most of the header
using namespace smd::tool::test;  // NOLINT

TEST_CASE("what is counted from an end counts each tensor's own steps") {
  const std::string gradient = "gradient/DigitNet_fc.bias";  // at train steps only: global 0 5 10 21 26 31
  const std::string bias = "DigitNet_fc.bias";               // at all nine
  const auto own = [&](const SelectionOptions& options, const std::string& tensor) {
    Steps steps;
    Reported outcome = with_messages(digits, options, [&](smd::Trial& trial, Diagnostics& messages, Reported&) {
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
  const Reported outcome = own(named("-7"), bias);
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
