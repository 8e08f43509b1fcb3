// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "cli/command_line.hpp"

namespace smd::tool {

/// What may be grouped by, in every command that groups.
inline constexpr std::array<std::string_view, 3> by_words = {"tensor", "step", "worker"};

/// What rows are grouped by; the rest is pooled.
struct By {
  bool tensor = true;
  bool step = true;
  bool worker = true;
  bool row = false;  ///< The index on the first axis; only with the tensor.

  bool operator==(const By&) const = default;

  /// The value of --by, which must have been given, of these words. @throws UsageError.
  static By from(const CommandLine& line, std::span<const std::string_view> words = by_words);
};

/// --by.
inline constexpr OptionSpec by_option = {
    .short_name = 'b',
    .name = "by",
    .metavar = "LIST",
    .help = "of tensor,step,worker: a row for each; what is left out is pooled as one array (default: all three)",
    .group = group::view,
    .kind = ArgumentKind::text,
    .split_commas = true,
    .choices = by_words};

}  // namespace smd::tool
