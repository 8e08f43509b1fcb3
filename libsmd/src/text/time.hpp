// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace smd::text {

/// Returns the seconds since 1970 of a time in RFC 3339, also with a blank for the T, a comma before the fraction and a
/// zone without a colon: `2024-05-01T12:00:00.5+02:00`. Of ISO 8601 also `20240501T120000`, and times without seconds
/// or time of day. Nullopt for any other text. `zone_needed`: else a time without a zone is UTC.
[[nodiscard]] std::optional<double> seconds_of_time(std::string_view text, bool zone_needed);

}  // namespace smd::text
