// SPDX-License-Identifier: Apache-2.0
#include <smd/step.hpp>

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
  const auto same = [&](std::string_view name) {
    if (text.size() != name.size()) {
      return false;
    }
    for (std::size_t at = 0; at < name.size(); ++at) {
      const char c = text[at];
      if ((c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c) != name[at]) {
        return false;
      }
    }
    return true;
  };
  for (const Mode mode : {Mode::train, Mode::eval, Mode::predict, Mode::global}) {
    if (same(to_string(mode))) {
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
