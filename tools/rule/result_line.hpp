// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <variant>

#include "record.hpp"

namespace smd::tool::rule {

/// A line that smd-rule did not write.
struct ForeignLine {};

/// Parses a line of `smd-rule --jsonl`. What --precision, --nonfinite null and --columns left out is not guessed: a
/// record without a key of its kind is foreign.
[[nodiscard]] std::variant<ForeignLine, OwnedRecord, PartLine> parse_result_line(std::string_view line);

}  // namespace smd::tool::rule
