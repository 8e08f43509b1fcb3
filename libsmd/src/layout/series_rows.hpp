// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "layout/name_collections.hpp"
#include "layout/name_table.hpp"
#include "layout/payload.hpp"
#include "text/path.hpp"
#include "wire/summary.hpp"

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What all layouts share whose values are read in the order in which they were written: rows of them, and series by a
/// name, of a worker. A later value supersedes those of its name at its step and later ones.
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
  /// Returns whether one of its entries is a number of that type. @pre repeats()
  [[nodiscard]] bool repeats_number(std::size_t entry, Dtype dtype) const noexcept {
    return stretch_->types[entry] == type_code(ValueForm::number, dtype);
  }
  /// Returns whether all its entries take 4 bytes, and have times of their own. @pre repeats()
  [[nodiscard]] bool repeats_narrow() const noexcept {
    return !stretch_->wide && stretch_->length_form == LengthForm::wide;
  }
  /// Returns whether there is room for another such row. @pre repeats()
  [[nodiscard]] bool can_repeat() const noexcept { return stretch_->rows + 1 < stretch_->capacity; }
  /// Ends the current row, and adds one with its names and types, and one time, at a later step. Returns where its
  /// numbers belong, of 8 bytes each; null if they, the time or the step do not fit.
  /// @pre repeats(), can_repeat(), and all its entries are numbers
  [[nodiscard]] std::byte* add_repeated(std::int64_t step, std::uint64_t wall_time) {
    const std::size_t names = stretch_->names.size();
    const bool untimed = stretch_->length_form == LengthForm::none;
    if (step <= step_ || !stretch_->wide || (untimed && !fits_length(wall_time))) {
      return nullptr;
    }
    push_row();
    step_ = step;
    const std::size_t times = Payload::lengths_bytes(stretch_->length_form, names) / sizeof wall_time;
    for (std::size_t i = 0; i < times; ++i) {
      std::memcpy(stretch_->lengths + i * sizeof wall_time, &wall_time, sizeof wall_time);
    }
    filled_ = names;
    return stretch_->starts;
  }
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
/// in registers, until `end`; the writer must not be used before. Benchmark: measurements.py, `smd-ls, 10 tags x
/// 100,000 steps`.
class StepRowWriter::RepeatedRows {
 public:
  /// @pre all entries of the writer's last whole row were numbers, and `writer.repeats_narrow`
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
    loaded_.rows.push_back({.row = {.file = {step_, worker_, row_},
                                    .mode_step = step_,
                                    .payload = stretch_->payload,
                                    .event_file = path_,
                                    .index = stretch_->rows},
                            .seen = seen_});
  }
  ++row_;
  ++stretch_->rows;
  stretch_->starts += filled_ * (stretch_->wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
  stretch_->lengths += Payload::lengths_bytes(stretch_->length_form, filled_);
  filled_ = 0;
}

/// Prefixes of the stored names of a histogram's reductions, the same as in a debugger trial. `num` is the number of
/// elements, including those outside all buckets (infinities). The last prefix is that of the record, from which the
/// buckets are read.
inline constexpr std::array<std::string_view, 9> reduction_prefixes = {
    "smdebug/reductions/min/",  "smdebug/reductions/max/", "smdebug/reductions/sum/",
    "smdebug/reductions/mean/", "smdebug/reductions/l2/",  "smdebug/reductions/variance/",
    "smdebug/reductions/std/",  "smdebug/reductions/num/", "smdebug/reductions/histogram/"};

/// Returns a stored name without the prefix of a record with buckets.
[[nodiscard]] inline std::string_view without_bucket_prefix(std::string_view stored) noexcept {
  return stored.starts_with(reduction_prefixes.back()) ? stored.substr(reduction_prefixes.back().size()) : stored;
}

/// By `reduction_prefixes`, without the last; nullopt if the sums do not determine the reduction.
using HistogramReductions = std::array<std::optional<double>, reduction_prefixes.size() - 1>;

/// Returns the reductions of a histogram's elements, from its sums; all nullopt if it has no elements. The variance is
/// nullopt if the difference of the sums has only rounding errors.
[[nodiscard]] HistogramReductions reductions_of(const wire::HistogramSums& sums) noexcept;

/// The values of one name, of one worker.
struct Series {
  std::uint16_t kinds = 0;  ///< The kinds of values so far: a bit for each `ValueKind`.
  bool has_value = false;   ///< It has a value that counts.
  std::uint32_t last_file = 0;
  std::int64_t last_step = 0;  ///< The greatest step of values that count, or an upper bound of it.
  std::uint64_t last_row = 0;
  std::optional<std::uint64_t> last_bits;  ///< Of the last value that counts, if `SeriesRows` took it as a number.
  std::uint32_t next = no_id;              ///< The series that followed last time.
  std::uint64_t restarts = 0;              ///< So many of its table's have superseded values of it.
  // Valid in the current look only:
  std::uint32_t look = 0;
  std::uint32_t name = no_id;          ///< Id in the look's tables.
  std::uint32_t reductions = no_id;    ///< The first of its reductions' names; the others follow.
  std::uint32_t supersession = no_id;  ///< The last one of this series.
};

/// Series whose names differ. Only values of the same table supersede each other.
struct SeriesTable {
  struct Restart {
    std::uint64_t number = 0;  ///< From 1.
    std::int64_t step = 0;
  };

  NameTable names;
  std::vector<Series> series;     ///< By id of the name.
  std::uint64_t restarts = 0;     ///< The number of restarts.
  std::vector<Restart> deferred;  ///< Restarts at lower steps than all later ones.
};

/// What the next look needs, in each such layout.
struct SeriesCursor {
  std::uint32_t looks = 0;
  std::uint64_t next_row = 1;
  std::uint32_t workers = 0;  ///< The number of workers with values.
  /// The first of consecutive rows, and the file of these rows.
  GrowingColumn<std::pair<std::uint64_t, std::uint32_t>> file_of_rows;
  Extras extras;

  /// Returns the file of a row; `no_id` if no file has it.
  [[nodiscard]] std::uint32_t file_of(std::uint64_t row) const noexcept;
};

/// Returns a cursor for reading from the start. It keeps the next row id and the number of workers of `before`, which
/// may be null.
template <class Cursor>
[[nodiscard]] std::shared_ptr<Cursor> emptied(const Cursor* before) {
  auto empty = std::make_shared<Cursor>();
  if (before != nullptr) {
    empty->next_row = before->next_row;
    empty->workers = before->workers;
  }
  return empty;
}

class SeriesListing : public Listing {
 public:
  /// Adds workers until there are `count`.
  void add_workers(std::uint32_t count);
  /// Adds what is said of a file and of its end.
  void add_notes(const std::string& file, const ProblemList& problems, const std::optional<Problem>& rest);
};

/// A listing of several files. Immutable once shared.
template <class Cursor>
class ListingOf final : public SeriesListing {
 public:
  [[nodiscard]] std::string path(const StepPart& file) const override {
    const std::uint32_t id = cursor->file_of(file.id);
    return id == no_id ? std::string() : cursor->files[id].path;
  }

  std::shared_ptr<const Cursor> cursor;
};

/// Returns the listing of a look that ended with `cursor`. `before`: that of the look before; null if there was none.
template <class ListingType, class Cursor>
[[nodiscard]] std::shared_ptr<ListingType> next_listing(std::shared_ptr<Cursor> cursor, const ListingType* before,
                                                        ProblemList&& notes) {
  auto listing = before == nullptr ? std::make_shared<ListingType>() : std::make_shared<ListingType>(*before);
  listing->notes = std::move(notes);
  listing->add_workers(cursor->workers);
  if (before == nullptr || cursor != before->cursor) {
    listing->extras = std::make_shared<const Extras>(cursor->extras);
  }
  listing->cursor = std::move(cursor);
  return listing;
}

/// Returns the id of a name; adds it to `names` and to `items`, which are by id, if it is new. Writers repeat their
/// names in the same order: the one that followed `previous` last time, `Item::next`, is tried first.
template <class Item>
[[nodiscard]] std::uint32_t id_of_next(NameTable& names, std::vector<Item>& items, std::uint32_t previous,
                                       std::string_view name) {
  std::uint32_t id = previous == no_id ? no_id : items[previous].next;
  if (id == no_id || names[id] != name) {
    id = names.add(name);
    if (id == items.size()) {
      items.emplace_back();
    }
    if (previous != no_id) {
      items[previous].next = id;
    }
  }
  return id;
}

/// Turns values into rows, and records which earlier ones they supersede.
class SeriesRows {
 public:
  /// Ids of the stored names, by `reduction_prefixes`.
  using ReductionNames = std::array<std::uint32_t, reduction_prefixes.size()>;

  /// Continues the rows of `cursor`. Both must outlive this.
  SeriesRows(SeriesCursor& cursor, LoadedSteps& loaded);

  /// Sets where the values that follow stand: `table` has their series, and must not move until the next call. `run`
  /// precedes their names. `seen`: see `RowSequence`.
  void begin_file(SeriesTable& table, std::string_view run, std::string_view path, std::uint32_t file,
                  std::uint32_t worker, bool seen = false);
  [[nodiscard]] StepRowWriter& writer() noexcept { return rows_; }
  [[nodiscard]] const std::string& run() const noexcept { return run_; }
  [[nodiscard]] std::string full_name(std::string_view name) const { return text::path_in(run_, name); }
  /// Returns the series of the next value, whose id then is `previous`.
  [[nodiscard]] Series& series_of(std::string_view name);
  /// As above, of a series that the table has.
  [[nodiscard]] Series& series_of(std::uint32_t id);
  /// The id of the previous value's series; `no_id` at the beginning of a file.
  [[nodiscard]] std::uint32_t previous() const noexcept { return previous_; }
  void set_previous(std::uint32_t id) noexcept { previous_ = id; }
  /// Returns the full name of a series that has a value in this look.
  [[nodiscard]] std::string_view name_of(const Series& series) noexcept { return rows_.tables().names[series.name]; }

  /// Prepares the row for a value: records its kind and the values that it supersedes. Then add its entries.
  void begin_value(Series& series, ValueKind kind, std::int64_t step);
  /// Supersedes values of other series of that name, and the worker, at this step.
  void supersede_at(const Series& series, std::int64_t step) {
    loaded_.supersessions.push_back({0, series.name, worker_, step, rows_.row(), true});
  }
  void add_number(std::uint32_t name, Dtype dtype, std::uint64_t bits, double wall_time) {
    rows_.add(name, ValueForm::number, dtype, bits, std::bit_cast<std::uint64_t>(wall_time));
  }
  void add_record(std::uint32_t name, ValueForm form, std::uint64_t offset, std::uint64_t length) {
    rows_.add(name, form, Dtype::float32, offset, length);
  }
  /// Adds a histogram of which only buckets are known: least and greatest edge, if any bucket has elements, and the
  /// record with the buckets.
  void add_buckets(Series& series, const std::optional<wire::BucketSpan>& span, double wall_time, std::uint64_t offset,
                   std::uint64_t length);
  /// Adds a number. Returns false for the number that its series has already at its newest step: loggers repeat it.
  bool take_number(Series& series, ValueKind kind, std::int64_t step, Dtype dtype, std::uint64_t bits,
                   double wall_time);
  /// A number of a series that the table has, of 8 bytes.
  struct Number {
    std::uint32_t series = no_id;
    ValueKind kind = ValueKind::number;
    Dtype dtype = Dtype::float64;
    std::uint64_t bits = 0;
  };
  /// Returns whether numbers have the series of the current row, in its order. Rows of such numbers at later steps may
  /// be added as a whole, as `take_number` adds them, but faster: `add_row` returns where the numbers of the next one
  /// belong, 8 bytes each; null if its step or its time does not fit, or there is no room. Then `end_rows` with the
  /// last numbers added. Benchmark: metric_logs.py, `smd-ls -j 1, a million rows of CSV`.
  [[nodiscard]] bool goes_on(std::span<const Number> numbers) const;
  [[nodiscard]] std::byte* add_row(std::int64_t step, double wall_time) {
    return rows_.can_repeat() ? rows_.add_repeated(step, std::bit_cast<std::uint64_t>(wall_time)) : nullptr;
  }
  void end_rows(std::span<const Number> last);
  /// Adds a row so. Returns false, and adds nothing, if it does not go on. Benchmark: metric_logs.py, `smd-ls -j 1, a
  /// million records of W&B`.
  bool take_alike(std::span<const Number> numbers, std::int64_t step, double wall_time);
  [[nodiscard]] const ReductionNames& reductions_of(Series& series);
  /// Supersedes all values of the table at this step and later ones: the job was restarted. A series is only changed
  /// when it is asked for next, or in `apply_restarts`: there may be many of both.
  void restart(std::int64_t step);
  /// As above, the values of some series only, by their ids, and at once.
  void restart(std::span<const std::uint32_t> ids, std::int64_t step);
  /// Changes all series of the table. Call this before another `begin_file`.
  void apply_restarts();
  /// Ends the last row and the look, whose rows are in `found.loaded`. `collections`: those of the look before.
  void finish(Found& found, std::shared_ptr<const CollectionsInfo> collections);

 private:
  void name_in_tables(Series& series, std::uint32_t id);
  void apply_restarts(Series& series, std::uint32_t id);
  void restart(Series& series, std::uint32_t id, std::int64_t step);
  void supersede(Series& series, std::int64_t from_step);

  SeriesCursor& cursor_;
  LoadedSteps& loaded_;
  StepRowWriter rows_;
  SeriesTable* table_ = nullptr;
  std::string run_;
  std::uint32_t file_ = 0;
  std::uint32_t worker_ = 0;
  std::uint32_t previous_ = no_id;
  std::vector<NamedValues> new_names_;           ///< Tensors with kinds of values that they did not have before.
  std::vector<ReductionNames> reduction_names_;  ///< By `Series::reductions`.
};

}  // namespace smd::detail::layout
