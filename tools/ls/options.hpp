// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "follow/following.hpp"
#include "operands/reading_options.hpp"
#include "rows/output_options.hpp"
#include "select/selection.hpp"

namespace smd::tool::ls {

struct ViewSpec;

/// What the command line asks of smd-ls.
struct LsOptions {
  const ViewSpec* view = nullptr;                                    ///< Never null once `from` made it.
  bool details = false;                                              ///< -l
  std::optional<std::string> key;                                    ///< --get
  std::size_t tree_depth = std::numeric_limits<std::size_t>::max();  ///< --depth
  bool by_dtype = false;                                             ///< --by
  SelectionOptions selection;
  OutputOptions output;
  ReadingOptions reading;
  FollowingOptions following;
  std::vector<std::string> operands;
  bool here = false;  ///< No operand was given: it is the current folder.

  /// Whether to say what to run next: somebody at a terminal looks at a folder for the first time.
  [[nodiscard]] bool says_next() const noexcept;

  /// -l, the views, --get, --depth, --by.
  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError.
  static LsOptions from(const CommandLine& line);

  /// Whether output is for people who did not ask for rows: then views may draw a picture or fill in a sheet.
  [[nodiscard]] bool for_people() const noexcept { return output.format == "table" && !output.asks_for_rows(); }
  /// Whether the summary is a sheet with a line for each key, in place of a row: for people who ask for one trial.
  [[nodiscard]] bool shows_sheet() const noexcept;
};

/// smd-ls: what was saved.
[[nodiscard]] const CommandDefinition& definition();
ExitStatus run(const LsOptions& options, Diagnostics& messages);

}  // namespace smd::tool::ls
