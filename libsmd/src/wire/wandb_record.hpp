// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "wire/event.hpp"
#include "wire/flat_json.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// Run files of the W&B SDK: records in chunks, as LevelDB's logs have them, with messages of protobuf in them.
/// Format: wandb/core/internal/transactionlog and wandb/proto/wandb_internal.proto of the SDK.
namespace smd::detail::wire {

inline constexpr std::size_t wandb_header_bytes = 7;  ///< Of a file, and of a chunk.
inline constexpr std::size_t wandb_block_bytes = std::size_t{32} << 10;

/// Returns what is wrong with the first bytes of a run file; nullopt if nothing is, or they are too few to tell.
[[nodiscard]] std::optional<std::string_view> wandb_header_problem(std::span<const std::byte> first) noexcept;

/// A part of a record. Chunks do not cross the blocks of a file.
struct WandbChunk {
  enum class Type : std::uint8_t { none, full, first, middle, last };  ///< None: zeros, where no chunk is.
  Type type = Type::none;
  std::span<const std::byte> payload;

  [[nodiscard]] bool begins() const noexcept { return type == Type::full || type == Type::first; }
  [[nodiscard]] bool ends() const noexcept { return type == Type::full || type == Type::last; }
};

/// Returns the chunk at the beginning of `rest`: what is left of its block, or of the file. Problem: `not_yet` if the
/// file ends before the chunk does. `left`: the bytes that its block has left, at least `wandb_header_bytes`.
[[nodiscard]] Outcome<WandbChunk> wandb_chunk(std::span<const std::byte> rest, std::size_t left);

/// One record. Names and values are borrowed from its payload.
struct WandbRecord {
  enum class Kind : std::uint8_t { other, history, stats, config, alert, run, exit };
  struct Item {
    std::size_t first_key = 0;
    std::size_t keys = 0;
    std::string_view json = {};
  };

  Kind kind = Kind::other;
  std::vector<Item> items;
  std::vector<Item> removed;  ///< Of a configuration, without values.
  std::vector<std::string_view> keys;
  std::optional<std::int64_t> step;      ///< Of history.
  double time = 0;                       ///< Of stats: seconds since 1970.
  std::array<std::string_view, 3> says;  ///< Of an alert: title, text, level.
  std::int64_t exit_code = 0;

  [[nodiscard]] std::span<const std::string_view> keys_of(const Item& item) const noexcept {
    return std::span(keys).subspan(item.first_key, item.keys);
  }
};

/// Reads a record into `record`, whose memory is used again. An exit that is not complete is of kind `other`.
[[nodiscard]] Status parse_wandb_record(std::span<const std::byte> payload, WandbRecord& record);

/// Reads the items of history or stats into `values`, folded. `typed`: see `FlatJson::fold_typed`.
[[nodiscard]] Status flatten(const WandbRecord& record, FlatJson& values, std::size_t& typed);

/// Returns the array or the histogram of a name in a record. `chunks`: those of the record, from `offset` in the file.
[[nodiscard]] Outcome<Value> parse_wandb_value(std::span<const std::byte> chunks, std::uint64_t offset,
                                               std::string_view name);

}  // namespace smd::detail::wire
