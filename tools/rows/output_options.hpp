// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/comparison.hpp"
#include "cli/diagnostics.hpp"
#include "cli/number_format.hpp"
#include "cli/output_file.hpp"
#include "cli/terminal.hpp"

namespace smd::tool {

/// Returns the choice of the flag that was given, or `Choice()` if no flag was. @throws UsageError if two were.
template <class Choice, std::size_t Count>
[[nodiscard]] Choice only_flag(const CommandLine& line,
                               const std::array<std::pair<std::string_view, Choice>, Count>& flags) {
  const auto given = [&line](const auto& flag) { return line.has(flag.first); };
  const auto* const first = std::ranges::find_if(flags, given);
  if (first == flags.end()) {
    return Choice();
  }
  if (const auto* const other = std::find_if(first + 1, flags.end(), given); other != flags.end()) {
    throw UsageError("--" + std::string(first->first) + " and --" + std::string(other->first) +
                     " exclude each other: one view at a time");
  }
  return first->second;
}

/// The weight that --smooth gives. @throws InvalidValue unless 0 <= W < 1.
[[nodiscard]] double smoothing_weight(const std::string& text);

/// A column that rows are sorted by.
struct SortKey {
  std::string column;
  bool descending = false;
};

/// The output options, as option tables and as their values.
struct OutputOptions {
  std::string format;  ///< As given by -f or a short form, lower case; else `table` on a terminal, `tsv` elsewhere.
  bool format_given = false;
  std::optional<std::string> file;  ///< -o
  std::vector<std::string> columns;
  std::string_view column_hint = {};   ///< What to do about a column that there is not, for the message.
  std::vector<SortKey> sort;           ///< --sort; empty: rows come in the documented order.
  std::optional<std::uint64_t> limit;  ///< --limit
  std::vector<Comparison> where;       ///< --where: all must hold.
  bool header = true;
  bool null_separated = false;
  bool with_trial = false;
  int precision = 0;  ///< 0: exact, or the format's default.
  NonFinite nonfinite = NonFinite::string;
  TerminalOptions terminal;
  bool silent = false;  ///< -q without -o: results are not printed. With -o they are written to the file.
  bool quiet = false;   ///< And no row need be made: with --where, rows decide the status.

  /// -f -o --columns --sort --limit --where -H -0 -T --precision --nonfinite --color --ascii, and --json --jsonl --csv
  /// --tsv.
  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError.
  static OutputOptions from(const CommandLine& line);
  /// Lists are split at commas: puts names that have some together again, the longest ones that are `known` columns.
  /// @throws UsageError if --columns or --sort names a column twice.
  void join_names(std::span<const std::string_view> known);

  /// Whether rows are asked for as such: by their columns, their order, their number or a condition. Then views that
  /// draw pictures for people print rows.
  [[nodiscard]] bool asks_for_rows() const noexcept { return !row_option().empty(); }
  /// The first of --columns, --sort, --limit and --where that was given, for messages about what has no rows; empty:
  /// none.
  [[nodiscard]] std::string_view row_option() const noexcept;
  /// Whether a column is named by --columns, --sort or --where, or all are.
  [[nodiscard]] bool names(std::string_view column) const noexcept;
  [[nodiscard]] bool json() const noexcept { return format == "json" || format == "jsonl"; }
  /// Whether results go to a terminal.
  [[nodiscard]] bool to_terminal() const noexcept;
  /// Where results go: with -q standard output drops everything.
  /// @throws UsageError if `binary` data would go to a terminal; OutputError if a file cannot be made.
  [[nodiscard]] OutputFile open(bool binary = false) const;
};

}  // namespace smd::tool
