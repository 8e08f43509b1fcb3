// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <smd/difference.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "rows/picture_options.hpp"
#include "select/selection.hpp"

namespace smd::detail {
class Substitution;
}

namespace smd::tool::diff {

/// A pattern and what to put in its place, in names.
struct Renaming {
  std::string text;  ///< As given.
  std::shared_ptr<const detail::Substitution> substitution;
};

/// The options of smd-diff, as an option table and as values, with the shared options beside them.
/// The selection is of A.
struct DiffCommandOptions : ShowOptions {
  std::optional<StepSpec> steps_b;
  double rtol = 0;
  double atol = 0;
  bool equal_nan = true;
  bool ignore_dtype = false;       ///< --ignore-dtype
  bool common = false;             ///< --common
  std::vector<std::string> strip;  ///< --strip
  std::vector<Renaming> rename;    ///< --rename
  By by;
  bool all = false;
  bool summary = false;

  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError, also for options that contradict each other.
  static DiffCommandOptions from(const CommandLine& line);

  /// Whether each value has a row of its own.
  [[nodiscard]] bool single() const noexcept { return by == By(); }
  [[nodiscard]] DifferenceOptions comparing() const noexcept {
    const bool equal_ones_count = all || common || !single();  // shown, or pooled with others
    return {.rtol = rtol, .atol = atol, .equal_nan = equal_nan, .sums_of_equal = equal_ones_count};
  }
};

/// smd-diff: what differs between two trials, or two steps of one.
[[nodiscard]] const CommandDefinition& definition();
ExitStatus run(const DiffCommandOptions& options, Diagnostics& messages);

}  // namespace smd::tool::diff
