// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "layout/payload.hpp"

#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace smd::detail::layout {

/// Makes rows of values in the order of their arrival. A row has values of one file at one step. Rows share equal lists
/// of names and of types, which writers repeat, and rows with both in common share a payload.
class StepRowWriter {
 public:
  /// `next_id`: the id of the next row.
  explicit StepRowWriter(LoadedSteps& loaded, std::uint64_t next_id);
  StepRowWriter(const StepRowWriter&) = delete;
  StepRowWriter& operator=(const StepRowWriter&) = delete;
  ~StepRowWriter() = default;

  [[nodiscard]] Tables& tables() noexcept { return tables_; }
  /// Sets the file of the entries that follow. `seen`: see `RowSequence`.
  void begin_file(std::uint32_t path, std::uint32_t worker, bool seen = false);
  /// Sets whether the entries that follow were seen before.
  void set_seen(bool seen) {
    if (seen != seen_) {
      end_row();
      seen_ = seen;
    }
  }
  /// Sets the step of the entries that follow.
  void begin_values(std::int64_t step) {
    if (step != step_) {
      end_row();
      step_ = step;
    }
  }
  /// Begins a row with an id of its own. `apart`: it goes on no sequence, because a row of another file stands between.
  void begin_row(std::int64_t step, std::uint64_t id, bool apart) {
    end_row();
    step_ = step;
    row_ = id;
    apart_ = apart;
  }
  /// Returns the id of the row that takes the next entry.
  [[nodiscard]] std::uint64_t row() const noexcept { return row_; }
  /// Adds an entry: a record's place, or a number's bits and the bits of its wall time.
  void add(std::uint32_t name, ValueForm form, Dtype dtype, std::uint64_t start, std::uint64_t length) {
    const TypeCode type = type_code(form, dtype);
    if (!fits(name, type, start, length)) {
      leave_stretch();
      names_.push_back(name);
      types_.push_back(type);
      starts_.push_back(start);
      lengths_.push_back(length);
      return;
    }
    store(start, length);
  }
  /// Sets the wall time of a number in the current row, which has not ended.
  void retime(std::uint32_t name, std::uint64_t wall_time);
  /// The next entry begins another row.
  void end_row() {
    if (filled_ != 0 && filled_ == stretch_->names.size()) {
      push_row();
    } else if (filled_ != 0 || !names_.empty()) {
      end_new_row();
    }
  }

  // For rows with the same names and types as the row before:

  /// Returns whether the current row, which has not ended, has exactly the names and types of the row before.
  [[nodiscard]] bool repeats() const noexcept {
    return names_.empty() && filled_ != 0 && filled_ == stretch_->names.size();
  }
  /// Returns the names of its entries. @pre repeats()
  [[nodiscard]] std::span<const std::uint32_t> repeated_names() const noexcept { return stretch_->names; }
  /// Returns whether all its entries are numbers of that type, of 4 bytes. @pre repeats()
  [[nodiscard]] bool repeats_numbers(Dtype dtype) const noexcept {
    const TypeCode type = type_code(ValueForm::number, dtype);
    return !stretch_->wide && stretch_->length_form == LengthForm::wide &&
           std::all_of(stretch_->types.begin(), stretch_->types.end(), [&](TypeCode other) { return other == type; });
  }
  /// Returns whether there is room for another such row. @pre repeats()
  [[nodiscard]] bool can_repeat() const noexcept { return stretch_->rows + 1 < stretch_->capacity; }
  class RepeatedRows;
  /// Returns the step of the current row.
  [[nodiscard]] std::int64_t step() const noexcept { return step_; }
  /// Returns how many entries of the current row have names and types as in the row before.
  [[nodiscard]] std::size_t repeated() const noexcept { return filled_; }

  /// Ends the last row and sorts all rows in the listing's order. Sequences remain only if rows came in that order.
  void finish(const Listing& listing);

 private:
  /// The type of an entry, which is a scalar or a record, in a number.
  using TypeCode = std::uint16_t;
  static constexpr unsigned dtype_bits = 8;

  /// Memory for rows that share a payload.
  struct Stretch {
    std::vector<std::uint32_t> names;
    std::vector<TypeCode> types;
    std::byte* starts = nullptr;  ///< Columns of the next row, as is `lengths`.
    std::byte* lengths = nullptr;
    std::uint32_t payload = 0;
    std::uint32_t rows = 0;
    std::uint32_t capacity = 0;
    bool wide = false;
    LengthForm length_form = LengthForm::narrow;
  };
  struct StretchKey {
    std::uint32_t names = 0;
    std::uint32_t types = 0;
    bool wide = false;
    LengthForm length_form = LengthForm::narrow;

    auto operator<=>(const StretchKey&) const = default;
  };

  [[nodiscard]] static constexpr TypeCode type_code(ValueForm form, Dtype dtype) noexcept {
    return static_cast<TypeCode>(static_cast<unsigned>(form) << dtype_bits | static_cast<unsigned>(dtype));
  }
  [[nodiscard]] static bool is_wide(std::uint64_t number) noexcept { return number > 0xFFFFFFFF; }
  /// Returns whether the last row had an entry of this name and type in this place, and the stretch has room for it.
  [[nodiscard]] bool fits(std::uint32_t name, TypeCode type, std::uint64_t start, std::uint64_t length) const noexcept {
    return names_.empty() && stretch_ != nullptr && stretch_->rows < stretch_->capacity &&
           filled_ < stretch_->names.size() && stretch_->names[filled_] == name && stretch_->types[filled_] == type &&
           (stretch_->wide || !is_wide(start)) && fits_length(length);
  }
  [[nodiscard]] bool fits_length(std::uint64_t length) const noexcept {
    switch (stretch_->length_form) {
      case LengthForm::narrow:
        return !is_wide(length);
      case LengthForm::wide:
        return true;
      case LengthForm::one:
        return filled_ == 0 || std::memcmp(stretch_->lengths, &length, sizeof length) == 0;
      case LengthForm::none:
        return length == std::bit_cast<std::uint64_t>(unknown_time);
    }
    return false;
  }
  /// Adds an entry that fits.
  void store(std::uint64_t start, std::uint64_t length) noexcept {
    store(stretch_->starts, stretch_->wide, start);
    if (stretch_->length_form == LengthForm::one) {
      std::memcpy(stretch_->lengths, &length, sizeof length);
    } else if (stretch_->length_form != LengthForm::none) {
      store(stretch_->lengths, stretch_->length_form == LengthForm::wide, length);
    }
    ++filled_;
  }
  void store(std::byte* column, bool wide, std::uint64_t number) const noexcept {
    if (wide) {
      std::memcpy(column + filled_ * sizeof number, &number, sizeof number);
    } else {
      const auto narrow = static_cast<std::uint32_t>(number);
      std::memcpy(column + filled_ * sizeof narrow, &narrow, sizeof narrow);
    }
  }
  /// Returns the form of the lengths of the current row, which is not in the stretch. `records`: all entries are.
  [[nodiscard]] LengthForm length_form(bool records) const noexcept;
  void leave_stretch();
  void end_new_row();
  void push_row();
  void push_repeated(std::int64_t first_step, std::uint32_t count, std::uint64_t stride);
  /// Returns whether the current row is the next one of a sequence.
  [[nodiscard]] bool goes_on(const RowSequence& last) const noexcept {
    /// The most steps between two rows, so that `count * stride` of rows that share a payload does not overflow.
    constexpr std::uint64_t most_apart = std::uint64_t{1} << 48;
    const StepRow& first = last.row;
    if (first.payload != stretch_->payload || first.event_file != path_ || first.file.worker != worker_ ||
        first.file.id + last.count != row_ || step_ <= first.file.step || last.seen != seen_) {
      return false;
    }
    const auto apart = static_cast<std::uint64_t>(step_) - static_cast<std::uint64_t>(first.file.step);
    return last.count == 1 ? apart <= most_apart : apart == last.count * static_cast<std::uint64_t>(last.stride);
  }
  void enter_stretch(const StretchKey& key);
  void make_room(Stretch& stretch, const StretchKey& key);
  std::uint32_t list_of_types();

  LoadedSteps& loaded_;
  Tables& tables_;
  std::uint64_t row_;
  std::int64_t step_ = 0;
  std::uint32_t path_ = no_id;
  std::uint32_t worker_ = 0;
  bool seen_ = false;
  bool apart_ = false;          ///< The next row begins a sequence.
  Stretch* stretch_ = nullptr;  ///< The stretch of the last row.
  std::size_t filled_ = 0;      ///< The number of entries of the current row in the stretch.
  // The current row, if it differs from the last one:
  std::vector<std::uint32_t> names_;
  std::vector<TypeCode> types_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> lengths_;

  std::map<StretchKey, Stretch> stretches_;
  SharedLists<NameList> name_lists_;
  std::vector<std::vector<TypeCode>> type_codes_;  ///< Of `Tables::type_lists`.
  SharedLists<std::vector<TypeCode>> type_lists_{type_codes_};
};

/// Goes on with the current row, and with further rows like it. What changes with each number is held in here, that is
/// in registers, until `end`; the writer must not be used before.
class StepRowWriter::RepeatedRows {
 public:
  /// @pre `writer.repeats_numbers` was true of the last whole row
  explicit RepeatedRows(StepRowWriter& writer) noexcept
      : writer_(writer),
        bits_(writer.stretch_->starts + writer.filled_ * sizeof(std::uint32_t)),
        times_(writer.stretch_->lengths + writer.filled_ * sizeof(double)),
        entries_(writer.stretch_->names.size()),
        filled_(writer.filled_),
        room_(writer.stretch_->capacity - writer.stretch_->rows - 1),
        first_step_(writer.step_),
        step_(writer.step_) {}
  RepeatedRows(const RepeatedRows&) = delete;
  RepeatedRows& operator=(const RepeatedRows&) = delete;
  ~RepeatedRows() = default;

  /// Returns the step of the current row.
  [[nodiscard]] std::int64_t step() const noexcept { return step_; }
  /// Returns the number of entries of the current row.
  [[nodiscard]] std::size_t filled() const noexcept { return filled_; }
  [[nodiscard]] bool complete() const noexcept { return filled_ == entries_; }
  /// Begins another row. Returns false if there is no room for it. @pre complete(), and `step` is above the current one
  [[nodiscard]] bool begin_row(std::int64_t step) {
    if (room_ == 0) {
      return false;
    }
    const std::uint64_t apart = static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(step_);
    if (count_ == 1) {
      stride_ = apart;
    } else if (apart != stride_) {
      writer_.push_repeated(first_step_, count_, stride_);
      first_step_ = step;
      count_ = 0;
    }
    ++count_;
    --room_;
    step_ = step;
    filled_ = 0;
    return true;
  }
  /// Adds the next entry. @pre not complete()
  void add(std::uint32_t bits, double wall_time) noexcept {
    std::memcpy(bits_, &bits, sizeof bits);
    std::memcpy(times_, &wall_time, sizeof wall_time);
    bits_ += sizeof bits;
    times_ += sizeof wall_time;
    ++filled_;
  }
  void end() {
    if (count_ > 1) {
      writer_.push_repeated(first_step_, count_ - 1, stride_);
    }
    writer_.step_ = step_;
    writer_.filled_ = filled_;
  }

 private:
  StepRowWriter& writer_;
  std::byte* bits_;
  std::byte* times_;
  std::size_t entries_;
  std::size_t filled_;
  std::uint32_t room_;  ///< For so many rows.
  // The rows that the writer does not know yet, the current one included; each is `stride_` steps after the one before:
  std::int64_t first_step_;
  std::uint32_t count_ = 1;
  std::uint64_t stride_ = 0;
  std::int64_t step_;
};

inline void StepRowWriter::push_row() {
  if (!std::exchange(apart_, false) && !loaded_.rows.empty() && goes_on(loaded_.rows.back())) {
    RowSequence& last = loaded_.rows.back();
    last.stride = last.count == 1 ? step_ - last.row.file.step : last.stride;
    ++last.count;
  } else {
    StepRow row;
    row.file = {step_, worker_, row_};
    row.mode_step = step_;
    row.payload = stretch_->payload;
    row.index = stretch_->rows;
    row.event_file = path_;
    loaded_.rows.push_back({.row = row, .seen = seen_});
  }
  ++row_;
  ++stretch_->rows;
  stretch_->starts += filled_ * (stretch_->wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
  stretch_->lengths += Payload::lengths_bytes(stretch_->length_form, filled_);
  filled_ = 0;
}

}  // namespace smd::detail::layout
