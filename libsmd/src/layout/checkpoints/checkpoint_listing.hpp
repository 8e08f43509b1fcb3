// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/checkpoints/checkpoint_files.hpp"
#include "layout/checkpoints/read_once.hpp"
#include "layout/checkpoints/shard_index.hpp"
#include "layout/checkpoints/trainer_state.hpp"
#include "layout/layout.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What is known of a checkpoint folder after a look, and what the next look needs.
namespace smd::detail::layout {

/// The identity of a row: a file at a step under some names.
struct CheckpointRow {
  std::int64_t step = 0;
  std::string path;
  std::string prefix;                            ///< Precedes each tensor's name.
  bool main = false;                             ///< The tensors are the model's own.
  bool facts = false;                            ///< Numbers beside the tensors count too.
  std::uint64_t reading = 0;                     ///< `TensorFileHeader::reading`.
  std::optional<storage::FileStamp> stamp = {};  ///< `TensorFileHeader::stamp`.
  std::uint64_t id = 0;                          ///< `StepPart::id`.

  [[nodiscard]] bool same(const CheckpointRow& other) const {
    const bool same_file = reading == other.reading || (stamp && stamp == other.stamp);
    return step == other.step && path == other.path && prefix == other.prefix && main == other.main &&
           facts == other.facts && same_file;
  }
};

/// The identity of a row of numbers: a step of the log. Each checkpoint's log repeats those before, so its path does
/// not matter.
struct LogRow {
  std::int64_t step = 0;
  std::uint64_t numbers = 0;  ///< Their hash.
  std::uint64_t id = 0;       ///< `StepPart::id`.
};

/// Immutable once shared.
class CheckpointListing final : public Listing {
 public:
  CheckpointListing() {
    add_worker("worker_0");
    rank_workers();
  }

  [[nodiscard]] std::string path(const StepPart& file) const override;
  /// Null if the log has no such step.
  [[nodiscard]] const LogRow* find_log_row(std::int64_t step) const noexcept;

  ReadOnce<TrainerStep> steps;  ///< Of trainer_state.json files.
  ReadOnce<Outcome<ShardIndex>> indexes;
  ReadOnce<TensorFileHeader> headers;
  ReadOnce<Outcome<TrainerLog>> logs;
  std::vector<CheckpointRow> rows;  ///< By id.
  std::string log_path;
  std::vector<LogRow> log_rows;  ///< By step.
  std::uint64_t next_id = 1;
  bool waits = false;  ///< Some file may still be written.
  /// All files that matter, with their stamps; nullopt if some file has none.
  std::optional<std::map<std::string, storage::FileStamp>> seen;
};

}  // namespace smd::detail::layout
