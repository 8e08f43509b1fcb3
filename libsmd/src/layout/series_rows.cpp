// SPDX-License-Identifier: Apache-2.0
#include "layout/series_rows.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace smd::detail::layout {

namespace {

constexpr std::uint16_t bit_of(ValueKind kind) noexcept {
  return static_cast<std::uint16_t>(1u << static_cast<unsigned>(kind));
}

std::optional<double> variance_of(const wire::HistogramSums& sums) noexcept {
  if (sums.min == sums.max && std::isfinite(sums.min)) {
    return 0.0;
  }
  if (!std::isfinite(sums.sum) || !std::isfinite(sums.sum_squares)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double mean = sums.sum / sums.num;
  const double mean_square = sums.sum_squares / sums.num;
  const double variance = mean_square - mean * mean;
  constexpr double rounding = 1e-14;
  return variance < rounding * mean_square ? std::nullopt : std::optional(variance);
}

}  // namespace

HistogramReductions reductions_of(const wire::HistogramSums& sums) noexcept {
  if (!(sums.num > 0)) {
    return {};
  }
  const std::optional<double> variance = variance_of(sums);
  return {sums.min,
          sums.max,
          sums.sum,
          sums.sum / sums.num,
          std::sqrt(sums.sum_squares),
          variance,
          variance ? std::optional(std::sqrt(*variance)) : std::nullopt,
          sums.num};
}

std::uint32_t SeriesCursor::file_of(std::uint64_t row) const noexcept {
  const auto after = std::upper_bound(file_of_rows.begin(), file_of_rows.end(), row,
                                      [](std::uint64_t id, const auto& entry) { return id < entry.first; });
  return after == file_of_rows.begin() ? no_id : std::prev(after)->second;
}

void SeriesListing::add_workers(std::uint32_t count) {
  while (workers.size() < count) {
    add_worker("worker_" + std::to_string(workers.size()));
  }
  rank_workers();
}

SeriesRows::SeriesRows(SeriesCursor& cursor, LoadedSteps& loaded)
    : cursor_(cursor), loaded_(loaded), rows_(loaded, cursor.next_row) {
  ++cursor_.looks;
}

void SeriesRows::begin_file(SeriesTable& table, std::string_view run, std::string_view path, std::uint32_t file,
                            std::uint32_t worker, bool seen) {
  table_ = &table;
  run_ = run;
  file_ = file;
  worker_ = worker;
  previous_ = no_id;
  rows_.begin_file(rows_.tables().paths.add(path), worker, seen);
  auto& rows = cursor_.file_of_rows;
  if (!rows.empty() && rows.back().first == rows_.row()) {
    rows.back().second = file;
  } else if (rows.empty() || rows.back().second != file) {
    rows.emplace_back(rows_.row(), file);
  }
}

std::string SeriesRows::full_name(std::string_view name) const {
  std::string full;
  full.reserve(run_.size() + 1 + name.size());
  if (!run_.empty()) {
    full.append(run_).push_back('/');
  }
  return full.append(name);
}

/// Writers repeat their names in the same order, so the name that followed last time is tried first.
Series& SeriesRows::series_of(std::string_view name) {
  SeriesTable& here = *table_;
  std::uint32_t id = previous_ == no_id ? no_id : here.series[previous_].next;
  if (id == no_id || here.names[id] != name) {
    id = here.names.add(name);
    if (id == here.series.size()) {
      here.series.emplace_back();
    }
    if (previous_ != no_id) {
      here.series[previous_].next = id;
    }
  }
  return series_of(id);
}

Series& SeriesRows::series_of(std::uint32_t id) {
  previous_ = id;
  Series& series = table_->series[id];
  name_in_tables(series, id);
  return series;
}

void SeriesRows::name_in_tables(Series& series, std::uint32_t id) {
  if (series.look != cursor_.looks) {
    series.look = cursor_.looks;
    series.name = rows_.tables().names.add(full_name(table_->names[id]));
    series.reductions = series.supersession = no_id;
  }
}

void SeriesRows::supersede(Series& series, std::int64_t from_step) {
  if (series.supersession != no_id && loaded_.supersessions[series.supersession].from_step >= from_step) {
    // The new supersession includes the last one.
    Supersession& last = loaded_.supersessions[series.supersession];
    last.from_step = from_step;
    last.before = rows_.row();
    return;
  }
  series.supersession = static_cast<std::uint32_t>(loaded_.supersessions.size());
  loaded_.supersessions.push_back({0, series.name, worker_, from_step, rows_.row()});
}

void SeriesRows::begin_value(Series& series, ValueKind kind, std::int64_t step) {
  rows_.begin_values(step);
  if (series.last_row == rows_.row()) {
    rows_.end_row();
  }
  if (series.has_value && step <= series.last_step) {
    supersede(series, step);
  }
  series.has_value = true;
  series.last_step = step;
  series.last_file = file_;
  series.last_row = rows_.row();
  cursor_.workers = std::max(cursor_.workers, worker_ + 1);
  if ((series.kinds & bit_of(kind)) == 0) {
    series.kinds |= bit_of(kind);
    new_names_.push_back({std::string(name_of(series)), kind});
  }
}

bool SeriesRows::take_number(Series& series, ValueKind kind, std::int64_t step, Dtype dtype, std::uint64_t bits,
                             double wall_time) {
  if (series.has_value && series.last_step == step && series.last_bits == bits) {
    if (series.look == cursor_.looks && series.last_row == rows_.row()) {
      rows_.retime(series.name, std::bit_cast<std::uint64_t>(wall_time));
    }
    return false;
  }
  begin_value(series, kind, step);
  series.last_bits = bits;
  add_number(series.name, dtype, bits, wall_time);
  return true;
}

const SeriesRows::ReductionNames& SeriesRows::reductions_of(Series& series) {
  if (series.reductions == no_id) {
    series.reductions = static_cast<std::uint32_t>(reduction_names_.size());
    ReductionNames& ids = reduction_names_.emplace_back();
    NameTable& names = rows_.tables().names;
    const std::string name(names[series.name]);
    std::transform(reduction_prefixes.begin(), reduction_prefixes.end(), ids.begin(),
                   [&](std::string_view prefix) { return names.add(std::string(prefix) + name); });
  }
  return reduction_names_[series.reductions];
}

void SeriesRows::add_buckets(Series& series, const std::optional<wire::BucketSpan>& span, double wall_time,
                             std::uint64_t offset, std::uint64_t length) {
  const ReductionNames& names = reductions_of(series);
  if (span) {
    add_number(names[0], Dtype::float64, std::bit_cast<std::uint64_t>(span->min), wall_time);
    add_number(names[1], Dtype::float64, std::bit_cast<std::uint64_t>(span->max), wall_time);
  }
  add_record(names.back(), ValueForm::record, offset, length);
}

void SeriesRows::finish(const Listing& listing) {
  rows_.end_row();
  cursor_.next_row = rows_.row();
  rows_.finish(listing);
}

}  // namespace smd::detail::layout
