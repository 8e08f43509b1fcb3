// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "layout/payload.hpp"
#include "layout/shared_lists.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace smd::detail::layout {

/// Makes rows of values in the order of their arrival. A row has values of one file at one step. Writers repeat
/// themselves: lists of names and of types that were there before are shared, and rows that have both in common share a
/// payload.
class RowWriter {
 public:
  /// `next_id`: the id of the next row.
  explicit RowWriter(LoadedSteps& loaded, std::uint64_t next_id);
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;
  ~RowWriter() = default;

  [[nodiscard]] Tables& tables() noexcept { return tables_; }
  /// What follows is of this file.
  void begin_file(std::uint32_t path, std::uint32_t worker);
  /// What follows is of this step.
  void begin_values(std::int64_t step) {
    if (step != step_) {
      end_row();
      step_ = step;
    }
  }
  /// The row that takes the next entry.
  [[nodiscard]] std::uint64_t row() const noexcept { return row_; }
  /// Adds an entry: a record's place, or a number's bits and the bits of its wall time.
  void add(std::uint32_t name, PlaceKind kind, Dtype dtype, std::uint64_t start, std::uint64_t length) {
    const auto type = static_cast<TypeCode>(static_cast<unsigned>(kind) << dtype_bits | static_cast<unsigned>(dtype));
    if (!fits(name, type, start, length)) {
      leave_stretch();
      names_.push_back(name);
      types_.push_back(type);
      starts_.push_back(start);
      lengths_.push_back(length);
      return;
    }
    store(stretch_->starts, stretch_->wide, start);
    store(stretch_->lengths, stretch_->wide_lengths, length);
    ++filled_;
  }
  /// The next entry begins another row.
  void end_row() {
    if (filled_ != 0 && filled_ == stretch_->names.size()) {
      push_row();
    } else if (filled_ != 0 || !names_.empty()) {
      end_new_row();
    }
  }
  /// Ends the last row, and puts all in the listing's order: in sequences, if rows came in that order.
  void finish(const Listing& listing);

 private:
  /// What tells the type of an entry: all of them are scalars or records.
  using TypeCode = std::uint16_t;
  static constexpr unsigned dtype_bits = 8;

  /// Room for rows that share a payload.
  struct Stretch {
    std::vector<std::uint32_t> names;
    std::vector<TypeCode> types;
    std::byte* starts = nullptr;  ///< Of the row that comes next, as is `lengths`.
    std::byte* lengths = nullptr;
    std::uint32_t payload = 0;
    std::uint32_t rows = 0;
    std::uint32_t capacity = 0;
    bool wide = false;
    bool wide_lengths = false;
  };
  struct StretchKey {
    std::uint32_t names = 0;
    std::uint32_t types = 0;
    bool wide = false;
    bool wide_lengths = false;

    auto operator<=>(const StretchKey&) const = default;
  };

  [[nodiscard]] static bool is_wide(std::uint64_t number) noexcept { return number > 0xFFFFFFFF; }
  /// Whether the entry is what the row that came last had in this place.
  [[nodiscard]] bool fits(std::uint32_t name, TypeCode type, std::uint64_t start, std::uint64_t length) const noexcept {
    return names_.empty() && stretch_ != nullptr && stretch_->rows < stretch_->capacity &&
           filled_ < stretch_->names.size() && stretch_->names[filled_] == name && stretch_->types[filled_] == type &&
           (stretch_->wide || !is_wide(start)) && (stretch_->wide_lengths || !is_wide(length));
  }
  void store(std::byte* column, bool wide, std::uint64_t number) const noexcept {
    if (wide) {
      std::memcpy(column + filled_ * sizeof number, &number, sizeof number);
    } else {
      const auto narrow = static_cast<std::uint32_t>(number);
      std::memcpy(column + filled_ * sizeof narrow, &narrow, sizeof narrow);
    }
  }
  void leave_stretch();
  void end_new_row();
  void push_row();
  [[nodiscard]] bool goes_on(const RowSequence& last) const noexcept;
  void enter_stretch(const StretchKey& key);
  void make_room(Stretch& stretch, const StretchKey& key);
  std::uint32_t list_of_types();

  LoadedSteps& loaded_;
  Tables& tables_;
  std::uint64_t row_;
  std::int64_t step_ = 0;
  std::uint32_t path_ = no_id;
  std::uint32_t worker_ = 0;
  Stretch* stretch_ = nullptr;  ///< Where the last row stands.
  std::size_t filled_ = 0;      ///< Entries of the current row that stand in the stretch.
  // The current row, if it is unlike the last one:
  std::vector<std::uint32_t> names_;
  std::vector<TypeCode> types_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> lengths_;

  std::map<StretchKey, Stretch> stretches_;
  SharedLists<NameList> name_lists_;
  std::vector<std::vector<TypeCode>> type_codes_;  ///< Of `Tables::type_lists`.
  SharedLists<std::vector<TypeCode>> type_lists_{type_codes_};
};

}  // namespace smd::detail::layout
