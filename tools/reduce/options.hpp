// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <smd/reduction.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "follow/following.hpp"
#include "operands/shard.hpp"
#include "rows/picture_options.hpp"
#include "select/selection.hpp"

namespace smd::tool::reduce {

enum class ReduceViewKind : std::uint8_t { rows, hist, pivot, spark };
enum class SourceChoice : std::uint8_t { automatic, saved, computed };

/// The words that shells offer for --reduce.
[[nodiscard]] std::span<const std::string_view> offered_reductions();

/// The options of smd-reduce, as an option table and as values, with the shared options beside them.
struct ReduceCommandOptions : ShowOptions {
  FollowingOptions following;
  std::vector<std::string> reductions;  ///< As given; may hold `saved` and `all`.
  bool reductions_given = false;
  bool abs = false;
  SourceChoice source = SourceChoice::automatic;
  ReduceOptions reduce;
  By by;
  bool by_given = false;
  bool across = false;  ///< --across: trials are pooled too.
  ReduceViewKind view = ReduceViewKind::rows;
  std::optional<Shard> shard;
  bool merge = false;
  bool strict = false;

  static std::span<const OptionSpec> table();
  /// @throws UsageError, also for options that contradict each other.
  static ReduceCommandOptions from(const CommandLine& line);

  [[nodiscard]] bool asks_for_saved() const noexcept;
  /// Whether a row may pool several values.
  [[nodiscard]] bool pools() const noexcept { return !by.tensor || !by.step || !by.worker || across; }
  /// Whether --smooth has series of single workers, of which rows show the first at each step.
  [[nodiscard]] bool smooths_first_workers() const noexcept {
    return smooth && by.tensor && by.worker && !selection.worker && !selection.all_workers;
  }
  /// Whether other shards may have more to pool with the rows, as doubles: the shortest text of a float32 would not do.
  [[nodiscard]] bool pooled_later() const noexcept { return shard.has_value() && !by.step; }
};

/// smd-reduce: numbers about values.
[[nodiscard]] const CommandDefinition& definition();
ExitStatus run(ReduceCommandOptions& options, Diagnostics& messages);

}  // namespace smd::tool::reduce
