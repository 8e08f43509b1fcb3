// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace smd::text {

/// Returns the seconds since 1970 of a time in RFC 3339, also with a blank for the T and a zone without a colon:
/// `2024-05-01T12:00:00.5+02:00`. Nullopt for any other text. `zone_needed`: else a time without a zone is UTC.
[[nodiscard]] std::optional<double> seconds_of_time(std::string_view text, bool zone_needed);

}  // namespace smd::text
