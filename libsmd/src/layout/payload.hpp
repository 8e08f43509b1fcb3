// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/name_table.hpp"

#include <smd/place.hpp>
#include <smd/shape.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

/// Catalog entries as a layout returns them, in compact columns. Most steps of a job save the same tensors, often at
/// the same places, so lists of names and whole payloads are stored once and shared.
namespace smd::detail::layout {

inline constexpr std::uint32_t no_id = NameTable::none;

/// Ids of stored names, in the order of the payload; the same name may occur twice (the last one counts).
using NameList = std::vector<std::uint32_t>;

/// A shape that was saved without its tensor.
struct SavedShape {
  std::uint32_t name = 0;          ///< Id of the tensor's stored name.
  std::uint32_t original = no_id;  ///< Id of the framework's own name, if it differs.
  Shape shape;

  bool operator==(const SavedShape&) const = default;
};

/// Types by position in the payload. Very many entries share a few types, so each is stored once.
class TypeList {
 public:
  void reserve(std::size_t count) { which_.reserve(count); }
  /// Appends a type. Returns its index in `kinds()`.
  std::uint32_t push_back(ValueType type) { return which_.emplace_back(add_kind(std::move(type))); }
  /// Adds a type that entries may have. Returns its index in `kinds()`.
  std::uint32_t add_kind(ValueType type);
  /// Appends the type that has an index in `kinds()`.
  void push_back_kind(std::uint32_t kind) { which_.push_back(kind); }

  [[nodiscard]] std::size_t size() const noexcept { return which_.size(); }
  [[nodiscard]] const ValueType& operator[](std::size_t i) const noexcept { return kinds_[which_[i]]; }
  /// Returns the stored types; a type may occur twice.
  [[nodiscard]] const std::vector<ValueType>& kinds() const noexcept { return kinds_; }
  bool operator==(const TypeList& other) const;

 private:
  std::vector<ValueType> kinds_;
  std::vector<std::uint32_t> which_;
};

/// How a payload keeps the lengths of its entries. Those of numbers are the bits of their wall times.
enum class LengthForm : std::uint8_t {
  narrow,  ///< 4 bytes each; none is a number.
  wide,    ///< 8 bytes each.
  one,     ///< 8 bytes for all, which are numbers of one time.
  none,    ///< Nothing: all are numbers, whose time is unknown, NaN.
};
inline constexpr double unknown_time = std::numeric_limits<double>::quiet_NaN();

/// What one worker saved at one step into one file: entries, and shapes. The columns are parallel to the name list; the
/// owner of the payload keeps them in an arena. Rows that differ only in their columns may share a payload; their
/// columns then follow each other.
struct Payload {
  std::uint32_t names = no_id;   ///< Id of the name list.
  std::uint32_t shapes = no_id;  ///< Id of the list of saved shapes; `no_id`: none.
  std::uint32_t types = no_id;   ///< Id of the list of types; `no_id`: all entries are whole records.
  std::uint32_t count = 0;
  bool wide = false;  ///< Starts do not fit 32 bits.
  LengthForm length_form = LengthForm::narrow;
  const void* starts = nullptr;   ///< `count` of std::uint32_t or, if wide, std::uint64_t.
  const void* lengths = nullptr;  ///< As `length_form` says.
  double wall_time = 0;           ///< Of elements: when the file was written.

  /// Returns the offset in the file. Of a number: the bytes of its element, little endian, in the low bits.
  [[nodiscard]] std::uint64_t start(std::uint32_t i) const noexcept {
    return wide ? static_cast<const std::uint64_t*>(starts)[i] : static_cast<const std::uint32_t*>(starts)[i];
  }
  /// Returns the length in the file. Of a number: the bits of its wall time.
  [[nodiscard]] std::uint64_t length(std::uint32_t i) const noexcept {
    if (length_form == LengthForm::narrow) {
      return static_cast<const std::uint32_t*>(lengths)[i];
    }
    std::uint64_t length = 0;
    std::memcpy(&length, wide_length(i), sizeof length);
    return length;
  }
  [[nodiscard]] double number_time(std::uint32_t i) const noexcept { return std::bit_cast<double>(length(i)); }
  /// Returns where the length of an entry is, 8 bytes. @pre they are not narrow
  [[nodiscard]] const void* wide_length(std::uint32_t i) const noexcept {
    return length_form == LengthForm::none
               ? static_cast<const void*>(&unknown_time)
               : static_cast<const std::uint64_t*>(lengths) + (length_form == LengthForm::one ? 0 : i);
  }
  /// Returns the payload of one of the rows that share this payload. `index`: `StepRow::index`.
  [[nodiscard]] Payload of_row(std::uint32_t index) const noexcept {
    Payload row = *this;
    row.starts = static_cast<const std::byte*>(starts) + index * starts_bytes();
    row.lengths = static_cast<const std::byte*>(lengths) + index * lengths_bytes(length_form, count);
    return row;
  }
  [[nodiscard]] std::size_t starts_bytes() const noexcept {
    return std::size_t{count} * (wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
  }
  /// Returns the bytes that the lengths of `count` entries take.
  [[nodiscard]] static constexpr std::size_t lengths_bytes(LengthForm form, std::size_t count) noexcept {
    return form == LengthForm::none  ? 0
           : form == LengthForm::one ? sizeof(double)
                                     : count * (form == LengthForm::wide ? sizeof(double) : sizeof(std::uint32_t));
  }
};

/// Hash of a list of numbers: FNV-1a with a number at a time.
struct Fnv {
  std::uint64_t value = 14695981039346656037ULL;

  /// High bits count below too: multiplying moves them only up, where two of them could cancel.
  void add(std::uint64_t number) noexcept { value = (value ^ number ^ (number >> 32)) * 1099511628211ULL; }
  void add(const Shape& sizes) noexcept {
    for (const std::int64_t size : sizes) {
      add(static_cast<std::uint64_t>(size));
    }
  }
  void add(const ValueType& type) noexcept {
    add(static_cast<std::uint64_t>(type.form) << 8 | static_cast<std::uint64_t>(type.dtype));
    add(type.shape.size());
    add(type.shape);
    add(reinterpret_cast<std::uintptr_t>(type.source.get()));  // each file has its own: else all types would collide
  }
  template <class List>
  [[nodiscard]] static std::uint64_t of(const List& numbers) noexcept {
    Fnv hash;
    for (const auto number : numbers) {
      hash.add(number);
    }
    return hash.value;
  }
};

/// Stores equal lists once: writers repeat them.
template <class List>
class SharedLists {
 public:
  /// Adds to `lists`, which must outlive this and be empty.
  explicit SharedLists(std::vector<List>& lists) : lists_(lists) {}

  /// Returns the position of an equal list; adds the list first if none is equal. `hash` is that of the list.
  template <class Given>
  std::uint32_t id_of(Given&& list, std::uint64_t hash) {
    const auto [first, end] = ids_.equal_range(hash);
    const auto known = std::find_if(first, end, [&](const auto& entry) { return lists_[entry.second] == list; });
    if (known != end) {
      return known->second;
    }
    const auto id = static_cast<std::uint32_t>(lists_.size());
    lists_.push_back(std::forward<Given>(list));
    ids_.emplace(hash, id);
    return id;
  }

 private:
  std::vector<List>& lists_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> ids_;
};

/// Memory for the columns of payloads, in chunks that do not move.
class PayloadArena {
 public:
  /// Returns aligned memory for `count` numbers of 4 bytes (8 bytes if `wide`).
  std::uint32_t* take(std::size_t count, bool wide);
  /// Returns a copy of `numbers`, 4 bytes each (8 bytes if `wide`).
  const void* keep(const std::vector<std::uint64_t>& numbers, bool wide);
  /// Returns a payload of elements or records in such places, without its lists.
  [[nodiscard]] Payload columns(const std::vector<std::uint64_t>& starts, const std::vector<std::uint64_t>& lengths);
  [[nodiscard]] bool empty() const noexcept { return chunks_.empty(); }

 private:
  // Small at first: while a job is followed, each refresh makes an arena for a step or two.
  static constexpr std::size_t first_chunk_words = 64;
  static constexpr std::size_t chunk_words = 16 * 1024;
  struct Delete {
    bool large = false;
    void operator()(void* memory) const noexcept;
  };
  std::vector<std::unique_ptr<void, Delete>> chunks_;
  std::uint32_t* next_ = nullptr;
  std::size_t left_ = 0;
};

/// Payloads and the lists that they share, filled by one parser. Ids are positions in these lists.
struct Tables {
  NameTable names;  ///< Stored names: tensors, reductions, original names.
  NameTable paths;  ///< Paths of files that hold values, except those that `Layout::event_path` returns.
  std::vector<NameList> name_lists;
  std::vector<std::vector<SavedShape>> shape_lists;
  std::vector<TypeList> type_lists;
  std::vector<Payload> payloads;
  PayloadArena arena;
};

}  // namespace smd::detail::layout
