// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/exit_status.hpp"
#include "operands/shard.hpp"
#include "session.hpp"

#include <smd/reduction.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace smd::tool::reduce {

/// What a shard's row holds beside its statistics, so that rows can be pooled: which part of which steps it is, where
/// each statistic came from (`c` computed, `s` saved, `b` saved but can be computed too, `-` missing, `x` missing
/// because something could not be read), the options of those computed, and what is known of their elements.
struct Partial {
  Shard shard;
  ShardedSteps steps;
  std::string how;
  ReduceOptions options;
  std::optional<PartialReduction> data;  ///< Absent for complex numbers.
};

/// Words separated by spaces, numbers as decimal text that reads back the same: safe in any JSON program.
[[nodiscard]] std::string to_text(const Partial& partial);
/// Nullopt if the text is not of that form.
[[nodiscard]] std::optional<Partial> parse_partial(std::string_view text);

/// The line of a shard of a trial of which it has no row: without such a line, --merge takes the part for missing.
[[nodiscard]] std::string no_rows_line(const Session& session);

/// The last line of a shard, by which --merge knows that no line was lost, and that everything was read. `lines`: those
/// ahead of it. `status`: that of the command.
[[nodiscard]] std::string last_line(const Shard& shard, std::size_t lines, ExitStatus status);

}  // namespace smd::tool::reduce
