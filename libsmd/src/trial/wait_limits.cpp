// SPDX-License-Identifier: Apache-2.0
#include "trial/wait_limits.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <system_error>

namespace smd::detail::trial {

namespace {

std::optional<std::size_t> number_from_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) {
    return std::nullopt;
  }
  std::size_t number = 0;
  const char* const last = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, last, number);
  return error == std::errc{} && end == last ? std::optional(number) : std::nullopt;
}

/// Returns a number of seconds, which may have a fraction. Nullopt if the variable has no such value.
std::optional<std::chrono::nanoseconds> seconds_from_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) {
    return std::nullopt;
  }
  constexpr double most = 1e9;  // thirty years
  double number = 0;
  const char* const last = text + std::strlen(text);
  const auto [end, error] = std::from_chars(text, last, number);
  if (error != std::errc{} || end != last || !(number >= 0 && number <= most)) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(number));
}

}  // namespace

WaitLimits WaitLimits::from_environment() {
  WaitLimits limits;
  limits.end_delay = seconds_from_environment("SMDEBUG_TRAINING_END_DELAY_REFRESH").value_or(limits.end_delay);
  limits.missing_event_file_retries =
      number_from_environment("SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT").value_or(limits.missing_event_file_retries);
  limits.incomplete_steps =
      number_from_environment("SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW").value_or(limits.incomplete_steps);
  return limits;
}

}  // namespace smd::detail::trial
