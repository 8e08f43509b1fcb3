// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <smd/shape.hpp>
#include <smd/step.hpp>
#include <span>
#include <string>
#include <vector>

#include "layout/name_table.hpp"

/// What index files say, in compact columns. Most steps of a job list the same tensors, often at the same places, so
/// lists of names and whole payloads are kept once and shared.
namespace smd::detail::layout {

inline constexpr std::uint32_t no_id = NameTable::none;

/// Ids of stored names, in the order of the payload; the same name may occur twice (the last one counts).
using NameList = std::vector<std::uint32_t>;

/// A shape saved by itself.
struct SavedShape {
  std::uint32_t name = 0;          ///< Id of the tensor's stored name.
  std::uint32_t original = no_id;  ///< Id of the framework's own name, if it differs.
  Shape shape;

  bool operator==(const SavedShape&) const = default;
};

/// What one index file lists: the records of its event file, and shapes. `start` and `length` are parallel to the
/// name list; they live in an arena kept by whoever keeps the payload.
struct Payload {
  std::uint32_t names = no_id;   ///< Which name list.
  std::uint32_t shapes = no_id;  ///< Which list of saved shapes; `no_id`: none.
  std::uint32_t count = 0;
  bool wide = false;             ///< Starts do not fit 32 bits.
  const void* starts = nullptr;  ///< `count` of std::uint32_t or, if wide, std::uint64_t.
  const std::uint32_t* lengths = nullptr;

  [[nodiscard]] std::uint64_t start(std::uint32_t i) const noexcept {
    return wide ? static_cast<const std::uint64_t*>(starts)[i] : static_cast<const std::uint32_t*>(starts)[i];
  }
};

/// Tells lists of numbers apart: FNV-1a, a number at a time.
struct Fnv {
  std::uint64_t value = 14695981039346656037ULL;

  void add(std::uint64_t number) noexcept { value = (value ^ number) * 1099511628211ULL; }
};

/// Memory for the columns of payloads, in chunks that do not move.
class PayloadArena {
 public:
  /// Room for `count` numbers of 4 bytes (8-byte aligned if `wide`).
  std::uint32_t* take(std::size_t count, bool wide);
  [[nodiscard]] bool empty() const noexcept { return chunks_.empty(); }

 private:
  // Small at first: while a job is followed, each refresh brings an arena for a step or two.
  static constexpr std::size_t first_chunk_words = 64;
  static constexpr std::size_t chunk_words = 16 * 1024;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::uint32_t* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace smd::detail::layout
