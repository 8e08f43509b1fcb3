// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "follow/following.hpp"
#include "operands/reading_options.hpp"
#include "rows/output_options.hpp"
#include "select/selection.hpp"

namespace smd::tool::wait {

/// The conditions to wait for, as an option table and as values, with the shared options beside them.
struct WaitCommandOptions {
  std::vector<std::string> operands;
  SelectionOptions selection;         ///< -n -e -c -m, and -s as single steps, none negative.
  std::vector<std::int64_t> steps;    ///< -s
  std::optional<std::int64_t> after;  ///< --after
  std::optional<std::int64_t> count;  ///< --count
  std::vector<Comparison> until;      ///< --until: of numbers.
  bool end = false;
  bool any = false;
  FollowingOptions waiting;  ///< --timeout, --idle, --interval
  OutputOptions output;
  ReadingOptions reading;

  /// Whether records are printed whatever the result; else only for a trial for which the conditions do not hold.
  [[nodiscard]] bool wants_records() const noexcept {
    return after || output.format_given || output.file || !output.columns.empty() || !output.where.empty();
  }

  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError.
  static WaitCommandOptions from(const CommandLine& line);
};

/// smd-wait: waits for data.
[[nodiscard]] const CommandDefinition& definition();
ExitStatus run(const WaitCommandOptions& options, Diagnostics& messages);

}  // namespace smd::tool::wait
