// SPDX-License-Identifier: Apache-2.0
#include <smd/step.hpp>

#include "text/ascii.hpp"

#include <algorithm>

namespace smd {

std::string_view to_string(Mode mode) noexcept {
  switch (mode) {
    case Mode::train:
      return "TRAIN";
    case Mode::eval:
      return "EVAL";
    case Mode::predict:
      return "PREDICT";
    case Mode::global:
      return "GLOBAL";
  }
  return "unknown";
}

std::optional<Mode> parse_mode(std::string_view text) noexcept {
  const auto same_letter = [](char a, char b) { return text::to_lower(a) == text::to_lower(b); };
  for (const Mode mode : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
    const std::string_view name = to_string(mode);
    if (std::equal(text.begin(), text.end(), name.begin(), name.end(), same_letter)) {
      return mode;
    }
  }
  return {};
}

std::string_view to_string(StepState state) noexcept {
  switch (state) {
    case StepState::available:
      return "AVAILABLE";
    case StepState::unavailable:
      return "UNAVAILABLE";
    case StepState::not_yet_available:
      return "NOT_YET_AVAILABLE";
  }
  return "unknown";
}

}  // namespace smd
