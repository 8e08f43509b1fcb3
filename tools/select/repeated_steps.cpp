// SPDX-License-Identifier: Apache-2.0
#include "select/repeated_steps.hpp"

#include "select/selection.hpp"

#include <algorithm>
#include <vector>

namespace smd::tool {

namespace {

/// The global steps of a mode, ascending, whose mode steps an earlier global step has.
std::vector<GlobalStep> repeating_steps(const Trial& trial, Mode mode) {
  std::vector<GlobalStep> result;
  if (mode == Mode::global) {
    return result;
  }
  for (const ModeStep number : trial.steps(mode, true)) {
    const std::vector<GlobalStep> steps = trial.global_steps(mode, number);
    result.insert(result.end(), steps.begin() + 1, steps.end());
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

void note_repeated(const Trial& trial, Mode mode, ModeStep number, Diagnostics& messages) {
  if (mode == Mode::global) {
    return;
  }
  const std::vector<GlobalStep> steps = trial.global_steps(mode, number);
  if (steps.size() < 2) {
    return;
  }
  std::string others;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    others += (others.empty() ? "" : ", ") + std::to_string(steps[i].value);
  }
  messages.note(std::string(mode_text(mode)) + " step " + std::to_string(number.value) +
                " was saved more than once: global step " + std::to_string(steps.front().value) +
                " answers; without -m, -s " + others + " shows the rest");
}

bool asks_for_last(const StepSpec& spec) {
  return std::any_of(spec.terms().begin(), spec.terms().end(),
                     [](const StepTerm& term) { return term.single && !term.oldest && term.number == -1; });
}

void note_saved_since(const Trial& trial, Mode mode, GlobalStep last, std::span<const GlobalStep> own,
                      Diagnostics& messages) {
  std::vector<GlobalStep> steps = repeating_steps(trial, mode);
  std::erase_if(steps, [&](GlobalStep step) { return !std::binary_search(own.begin(), own.end(), step); });
  if (!steps.empty() && steps.back() > last) {
    messages.note("the last " + std::string(mode_text(mode)) + " step by its number is global step " +
                  std::to_string(last.value) + ", and the job counted anew after it; without -m, -s " +
                  std::to_string(steps.back().value) + " shows what it saved last");
  }
}

std::string not_saved_in(const Trial& trial, Mode mode, std::span<const GlobalStep> own) {
  for (const GlobalStep step : repeating_steps(trial, mode)) {
    if (std::binary_search(own.begin(), own.end(), step)) {
      return " was saved in mode " + std::string(mode_text(mode)) +
             " only at steps whose numbers earlier steps have, which answer; without -m, -s " +
             std::to_string(step.value) + " shows it";
    }
  }
  return " was not saved at any step" + (mode == Mode::global ? "" : " in mode " + std::string(mode_text(mode)));
}

}  // namespace smd::tool
