// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "follow/following.hpp"
#include "rows/picture_options.hpp"

namespace smd::tool::tensor {

/// How values are shown.
enum class TensorViewKind : std::uint8_t { values, stat, matrix, hist, heatmap, spark, pivot };

/// The options of smd-tensor, as an option table and as values, with the shared options beside them.
/// The operands are trials and names of tensors; the last may be `-`. The selection and `several_trials` are complete
/// when it is known which operands are trials and which are names.
struct TensorOptions : ShowOptions {
  bool several_trials = false;  ///< There may be more than one.
  FollowingOptions following;
  TensorViewKind view = TensorViewKind::values;
  bool bins_given = false;
  bool full = false;
  bool stack = false;
  std::optional<std::string> folder;  ///< -o DIR/, for npy and raw: a file for each value.

  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError, also for options that contradict each other.
  static TensorOptions from(const CommandLine& line);
  /// Adds the names among the operands to those of -n, and returns the trials. The first operand is a trial; a later
  /// one is the name of one of its tensors, else a further trial if it is a place. What standard input lists is trials
  /// if no operand stands before it, else names.
  std::vector<std::string> take_names(Diagnostics& messages);

  /// npy, npz, raw, pgm or svg: not for a terminal, and not rows.
  [[nodiscard]] bool binary() const noexcept;
  /// Significant digits in output for people.
  [[nodiscard]] int table_precision(int otherwise = 6) const noexcept {
    return output.precision != 0 ? output.precision : otherwise;
  }
};

/// smd-tensor: values.
[[nodiscard]] const CommandDefinition& definition();
ExitStatus run(TensorOptions& options, Diagnostics& messages);

}  // namespace smd::tool::tensor
