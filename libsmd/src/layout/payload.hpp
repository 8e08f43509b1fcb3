// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/name_table.hpp"

#include <smd/dtype.hpp>
#include <smd/shape.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

/// Catalog entries as a layout hands them over, in compact columns. Most steps of a job save the same tensors, often at
/// the same places, so lists of names and whole payloads are kept once and shared.
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

/// What the entries of a payload are.
enum class PlaceKind : std::uint8_t {
  record,    ///< Framed records: each tells type and shape itself.
  elements,  ///< Bare elements at an offset, which need not be aligned.
  number,    ///< Single numbers, held in the payload itself: of an integer type, boolean, float32 or float64.
};

/// Type and shape of an entry without a record.
struct ElementType {
  Dtype dtype = Dtype::float32;
  Shape shape;

  bool operator==(const ElementType&) const = default;
};

/// By position in the payload.
using TypeList = std::vector<ElementType>;

/// What one worker saved at one step into one file: entries of one kind, and shapes. The columns are parallel to the
/// name list; they live in an arena kept by the payload's owner.
struct Payload {
  std::uint32_t names = no_id;   ///< Which name list.
  std::uint32_t shapes = no_id;  ///< Which list of saved shapes; `no_id`: none.
  std::uint32_t types = no_id;   ///< Which list of types, for elements and numbers.
  std::uint32_t count = 0;
  PlaceKind kind = PlaceKind::record;
  bool wide = false;              ///< Starts do not fit 32 bits.
  bool wide_lengths = false;      ///< Lengths do not fit 32 bits.
  const void* starts = nullptr;   ///< `count` of std::uint32_t or, if wide, std::uint64_t. Of numbers: their bits.
  const void* lengths = nullptr;  ///< Likewise. Of numbers: the bits of the wall times.
  double wall_time = 0;           ///< Of elements: when the file was written.

  /// Offset in the file; 0 for a number.
  [[nodiscard]] std::uint64_t start(std::uint32_t i) const noexcept {
    return kind == PlaceKind::number ? 0 : column(starts, wide, i);
  }
  /// Bytes in the file; of a number, those of a double.
  [[nodiscard]] std::uint64_t length(std::uint32_t i) const noexcept {
    return kind == PlaceKind::number ? sizeof(double) : column(lengths, wide_lengths, i);
  }
  [[nodiscard]] double number(std::uint32_t i) const noexcept { return std::bit_cast<double>(column(starts, true, i)); }
  [[nodiscard]] double number_time(std::uint32_t i) const noexcept {
    return std::bit_cast<double>(column(lengths, true, i));
  }

 private:
  [[nodiscard]] static std::uint64_t column(const void* numbers, bool wide, std::uint32_t i) noexcept {
    return wide ? static_cast<const std::uint64_t*>(numbers)[i] : static_cast<const std::uint32_t*>(numbers)[i];
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
  /// Room for `count` numbers of 4 bytes (8 bytes if `wide`), aligned for them.
  std::uint32_t* take(std::size_t count, bool wide);
  /// The same, filled.
  const void* keep(const std::vector<std::uint64_t>& numbers, bool wide);
  [[nodiscard]] bool empty() const noexcept { return chunks_.empty(); }

 private:
  // Small at first: while a job is followed, each refresh brings an arena for a step or two.
  static constexpr std::size_t first_chunk_words = 64;
  static constexpr std::size_t chunk_words = 16 * 1024;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::uint32_t* next_ = nullptr;
  std::size_t left_ = 0;
};

/// Payloads and the lists that they share, as one parser fills them. Ids are positions here.
struct Tables {
  NameTable names;  ///< Stored names: tensors, reductions, original names.
  NameTable paths;  ///< Paths of files that hold values, but for those that the layout's grammar gives.
  std::vector<NameList> name_lists;
  std::vector<std::vector<SavedShape>> shape_lists;
  std::vector<TypeList> type_lists;
  std::vector<Payload> payloads;
  PayloadArena arena;
};

}  // namespace smd::detail::layout
