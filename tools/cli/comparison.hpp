// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace smd::tool {

/// How something must stand to a value.
enum class Relation : std::uint8_t { equal, unequal, less, at_most, greater, at_least, matches };

/// What `--where` and `--until` ask of a name: `val/loss < 0.5`.
struct Comparison {
  std::string name;
  Relation relation = Relation::equal;
  std::string value;
  std::string text;  ///< As given.
};

/// Parses NAME OP VALUE, which the last OP with a blank on both sides splits. Blanks may be left out where there is one
/// OP only. `form`: what an option takes, for the message. @throws InvalidValue.
[[nodiscard]] Comparison parse_comparison(const std::string& whole,
                                          std::string_view form = "NAME OP VALUE; OP is one of = != < <= > >= ~");

/// Whether a relation holds between two that compare as `order`: less than, equal to or greater than 0. Precondition:
/// the relation is not `matches`.
[[nodiscard]] bool holds(Relation relation, int order) noexcept;

}  // namespace smd::tool
