// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace smd::text {

/// Returns a variable's value; nullopt if it is unset or empty.
[[nodiscard]] inline std::optional<std::string> environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace smd::text
