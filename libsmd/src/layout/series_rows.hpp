// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "layout/name_collections.hpp"
#include "layout/name_table.hpp"
#include "layout/step_row_writer.hpp"
#include "wire/summary.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// What all layouts share whose values are read in the order in which they were written: by a name, at a step, of a
/// worker. A later value supersedes those of its name at its step and later ones.
namespace smd::detail::layout {

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
  std::uint64_t last_bits = 0;  ///< Of the last value that `SeriesRows::take_number` took.
  std::uint32_t next = no_id;   ///< The series that followed last time.
  // Valid in the current look only:
  std::uint32_t look = 0;
  std::uint32_t name = no_id;          ///< Id in the look's tables.
  std::uint32_t reductions = no_id;    ///< The first of its reductions' names; the others follow.
  std::uint32_t supersession = no_id;  ///< The last one of this series.
};

/// Series whose names differ. Only values of the same table supersede each other.
struct SeriesTable {
  NameTable names;
  std::vector<Series> series;  ///< By id of the name.
};

/// What the next look needs, in each such layout.
struct SeriesCursor {
  std::uint32_t looks = 0;
  std::uint64_t next_row = 1;
  std::uint32_t workers = 0;  ///< The number of workers with values.
  /// The first of consecutive rows, and the file of these rows.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> file_of_rows;
  Extras extras;

  /// Returns the file of a row; `no_id` if no file has it.
  [[nodiscard]] std::uint32_t file_of(std::uint64_t row) const noexcept;
};

class SeriesListing : public Listing {
 public:
  /// Adds workers until there are `count`.
  void add_workers(std::uint32_t count);
};

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
  [[nodiscard]] std::string full_name(std::string_view name) const;
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
  [[nodiscard]] const ReductionNames& reductions_of(Series& series);
  /// Supersedes all values of the table at this step and later ones: the job was restarted. Calls `affected(series)`
  /// before.
  template <class Affected>
  void restart(std::int64_t step, Affected affected) {
    rows_.end_row();
    for (std::uint32_t id = 0; id < table_->series.size(); ++id) {
      Series& series = table_->series[id];
      if (series.has_value && series.last_step >= step) {
        affected(series);
        name_in_tables(series, id);
        supersede(series, step);
        series.has_value = step > INT64_MIN;
        series.last_step = series.has_value ? step - 1 : step;
      }
    }
  }
  /// Ends the last row.
  void finish(const Listing& listing);
  /// Returns tensors with kinds of values that they did not have before.
  [[nodiscard]] const std::vector<NamedValues>& new_names() const noexcept { return new_names_; }

 private:
  void name_in_tables(Series& series, std::uint32_t id);
  void supersede(Series& series, std::int64_t from_step);

  SeriesCursor& cursor_;
  LoadedSteps& loaded_;
  StepRowWriter rows_;
  SeriesTable* table_ = nullptr;
  std::string run_;
  std::uint32_t file_ = 0;
  std::uint32_t worker_ = 0;
  std::uint32_t previous_ = no_id;
  std::vector<NamedValues> new_names_;
  std::vector<ReductionNames> reduction_names_;  ///< By `Series::reductions`.
};

}  // namespace smd::detail::layout
