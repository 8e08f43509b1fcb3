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

namespace smd::tool::runs {

/// Which hyperparameters are shown.
enum class HpChoice : std::uint8_t { all, differing, none };

/// What the command line asks of smd-runs.
struct RunsOptions {
  std::vector<std::string> places;
  SelectionOptions selection;           ///< -n -e -c -x: which scalars.
  std::optional<std::string> best;      ///< --best
  std::vector<std::string> least;       ///< --min
  std::vector<std::string> greatest;    ///< --max
  HpChoice hp = HpChoice::differing;    ///< --hp
  std::optional<std::int64_t> planned;  ///< --until-step
  OutputOptions output;
  ReadingOptions reading;
  FollowingOptions following;

  /// The scalars that are asked for by name: those of -n, --min, --max and --best.
  [[nodiscard]] std::vector<std::string> named() const;
  /// Whether the least value of a scalar is its best; nullopt: its name does not say. `is_loss`: it is in the
  /// collection `losses`. `above_zero`: some value is.
  [[nodiscard]] std::optional<bool> least_is_best(const std::string& name, bool is_loss, bool above_zero) const;

  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError.
  static RunsOptions from(const CommandLine& line);
};

/// smd-runs: many runs, a row each.
[[nodiscard]] const CommandDefinition& definition();
ExitStatus run(const RunsOptions& options, Diagnostics& messages);

}  // namespace smd::tool::runs
