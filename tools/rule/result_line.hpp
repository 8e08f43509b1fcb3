// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <variant>

#include "part_line.hpp"
#include "record.hpp"

namespace smd::tool::rule {

/// A line that is none of smd-rule's.
struct ForeignLine {};

/// What a line of `smd-rule --jsonl` holds. Of what --precision, --nonfinite null and --columns left out of numbers and
/// records nothing is guessed: a record without a key of its kind is foreign.
[[nodiscard]] std::variant<ForeignLine, OwnedRecord, PartLine> parse_result_line(std::string_view line);

}  // namespace smd::tool::rule
