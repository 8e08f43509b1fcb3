// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "operands/shard.hpp"
#include "options.hpp"
#include "session.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace smd::tool::reduce {

/// Pools the rows of shards and shows them, in the order that reducing the whole would give. The reductions, and what
/// rows are grouped by, are taken from the first row. Returns whether there was a row.
/// @throws UsageError if shards do not belong together, or were made with options whose results cannot be pooled.
bool merge_shards(const std::vector<std::string>& files, OutputFile& out, const ReduceCommandOptions& options,
                  Diagnostics& messages);

/// Which parts of one trial were given: they must be of the same whole, and none should be missing.
class PartsSeen {
 public:
  /// Takes note of a row.
  /// @throws InvalidValue if it does not belong with the rows before it.
  void add(const Shard& shard, const ShardedSteps& steps, std::size_t file);

  /// The parts that have steps but no row in any of `files` files. Empty if as many files had no row as there are parts
  /// without one: a part has no row either if nothing was selected at its steps.
  [[nodiscard]] std::vector<std::uint64_t> missing(std::size_t files) const;
  /// How many parts there are of the whole.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  std::uint64_t count_ = 0;
  ShardedSteps steps_;
  std::set<std::uint64_t> parts_;
  std::set<std::size_t> files_;
};

}  // namespace smd::tool::reduce
