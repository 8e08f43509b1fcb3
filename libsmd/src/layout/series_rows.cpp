// SPDX-License-Identifier: Apache-2.0
#include "layout/series_rows.hpp"

#include "text/mapped.hpp"

#include <cmath>
#include <iterator>
#include <limits>

namespace smd::detail::layout {

namespace {

/// The most entries of rows that share a payload.
constexpr std::size_t stretch_entries = 4096;

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

StepRowWriter::StepRowWriter(LoadedSteps& loaded, std::uint64_t next_id)
    : loaded_(loaded), tables_(loaded.tables.emplace_back()), row_(next_id), name_lists_(tables_.name_lists) {}

void StepRowWriter::begin_file(std::uint32_t path, std::uint32_t worker, bool seen) {
  end_row();
  seen_ = seen;
  path_ = path;
  worker_ = worker;
}

void StepRowWriter::retime(std::uint32_t name, std::uint64_t wall_time) {
  if (filled_ != 0 && stretch_->length_form != LengthForm::wide) {  // all entries are numbers of one time
    if (fits_length(wall_time)) {
      return;
    }
    leave_stretch();
  }
  if (const auto at = std::ranges::find(names_, name); at != names_.end()) {
    lengths_[static_cast<std::size_t>(at - names_.begin())] = wall_time;
    return;
  }
  for (std::size_t i = 0; i < filled_; ++i) {
    if (stretch_->names[i] == name) {
      std::memcpy(stretch_->lengths + i * sizeof wall_time, &wall_time, sizeof wall_time);
    }
  }
}

std::uint32_t StepRowWriter::list_of_types() {
  const TypeCode record = type_code(ValueForm::record, Dtype::float32);
  if (std::ranges::all_of(types_, [&](TypeCode code) { return code == record; })) {
    return no_id;
  }
  const std::uint32_t id = type_lists_.id_of(types_, Fnv::of(types_));
  if (id == tables_.type_lists.size()) {
    TypeList& list = tables_.type_lists.emplace_back();
    list.reserve(types_.size());
    for (const TypeCode code : types_) {
      list.push_back({static_cast<ValueForm>(code >> dtype_bits), static_cast<Dtype>(code & 0xFFu), {}});
    }
  }
  return id;
}

/// Moves the entries of the current row out of the stretch: the row differs from the last one.
void StepRowWriter::leave_stretch() {
  if (filled_ == 0) {
    return;
  }
  const Payload row = tables_.payloads[stretch_->payload].of_row(stretch_->rows);
  for (std::uint32_t i = 0; i < filled_; ++i) {
    names_.push_back(stretch_->names[i]);
    types_.push_back(stretch_->types[i]);
    starts_.push_back(row.start(i));
    lengths_.push_back(row.length(i));
  }
  filled_ = 0;
}

LengthForm StepRowWriter::length_form(bool records) const noexcept {
  if (records) {
    return std::ranges::any_of(lengths_, is_wide) ? LengthForm::wide : LengthForm::narrow;
  }
  const bool numbers = std::ranges::all_of(
      types_, [](TypeCode code) { return code >> dtype_bits == static_cast<unsigned>(ValueForm::number); });
  const bool same = std::ranges::adjacent_find(lengths_, std::not_equal_to<>()) == lengths_.end();
  return !numbers || !same                                                ? LengthForm::wide
         : lengths_.front() == std::bit_cast<std::uint64_t>(unknown_time) ? LengthForm::none
         : lengths_.size() == 1                                           ? LengthForm::wide
                                                                          : LengthForm::one;
}

void StepRowWriter::end_new_row() {
  leave_stretch();
  StretchKey key;
  key.names = name_lists_.id_of(names_, Fnv::of(names_));
  key.types = list_of_types();
  key.wide = std::ranges::any_of(starts_, is_wide);
  key.length_form = length_form(key.types == no_id);
  Stretch& stretch = stretches_[key];
  if (stretch.names.empty()) {
    stretch.names = names_;
    stretch.types = types_;
    stretch.wide = key.wide;
    stretch.length_form = key.length_form;
  }
  if (stretch.rows == stretch.capacity) {
    make_room(stretch, key);
  }
  stretch_ = &stretch;
  while (filled_ < starts_.size()) {
    store(starts_[filled_], lengths_[filled_]);
  }
  names_.clear();
  types_.clear();
  starts_.clear();
  lengths_.clear();
  push_row();
}

/// Ends rows that repeat the last one: as many calls of `push_row`. Their entries are stored.
void StepRowWriter::push_repeated(std::int64_t first_step, std::uint32_t count, std::uint64_t stride) {
  const std::size_t entries = stretch_->names.size();
  for (std::uint32_t pushed = 0; pushed < count;) {
    step_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(first_step) + pushed * stride);
    filled_ = entries;
    push_row();
    ++pushed;
    RowSequence& last = loaded_.rows.back();
    if (last.count > 1 && static_cast<std::uint64_t>(last.stride) == stride) {  // as then all others go on
      const std::uint32_t others = count - pushed;
      last.count += others;
      row_ += others;
      stretch_->rows += others;
      stretch_->starts += others * entries * sizeof(std::uint32_t);
      stretch_->lengths += others * entries * sizeof(std::uint64_t);
      pushed = count;
    }
  }
}

/// Doubles the number of rows each time, so that a look that finds a step or two takes little memory.
void StepRowWriter::make_room(Stretch& stretch, const StretchKey& key) {
  const std::size_t count = stretch.names.size();
  stretch.capacity = static_cast<std::uint32_t>(
      std::max<std::size_t>(1, std::min(std::size_t{2} * stretch.capacity, stretch_entries / count)));
  stretch.rows = 0;
  std::uint32_t* const starts = tables_.arena.take(count * stretch.capacity, stretch.wide);
  const std::size_t length_words = Payload::lengths_bytes(stretch.length_form, count) / sizeof(std::uint32_t);
  std::uint32_t* const lengths = tables_.arena.take(length_words * stretch.capacity, false);
  stretch.starts = reinterpret_cast<std::byte*>(starts);
  stretch.lengths = reinterpret_cast<std::byte*>(lengths);
  stretch.payload = static_cast<std::uint32_t>(tables_.payloads.size());
  Payload& payload = tables_.payloads.emplace_back();
  payload.names = key.names;
  payload.types = key.types;
  payload.count = static_cast<std::uint32_t>(count);
  payload.wide = stretch.wide;
  payload.length_form = stretch.length_form;
  payload.starts = starts;
  payload.lengths = lengths;
}

void StepRowWriter::finish(const Listing& listing) {
  end_row();
  std::vector<LoadedSteps::Row>& rows = loaded_.rows;
  const auto stand_apart = [](const LoadedSteps::Row& a, const LoadedSteps::Row& b) {
    return a.last_step() < b.row.file.step;
  };
  if (std::ranges::adjacent_find(rows, std::not_fn(stand_apart)) == rows.end()) {
    return;
  }
  std::vector<LoadedSteps::Row> single;
  single.reserve(count_rows(rows));
  for (const LoadedSteps::Row& sequence : rows) {
    for (std::uint32_t i = 0; i < sequence.count; ++i) {
      single.push_back({.row = sequence.nth(i), .seen = sequence.seen});
    }
  }
  const auto before = [&](const LoadedSteps::Row& a, const LoadedSteps::Row& b) {
    return listing.before(a.row.file, b.row.file);
  };
  sort_if_needed(single, before);
  rows = std::move(single);
}

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
  const auto after = std::ranges::upper_bound(file_of_rows, row, {}, [](const auto& entry) { return entry.first; });
  return after == file_of_rows.begin() ? no_id : std::prev(after)->second;
}

void SeriesListing::add_workers(std::uint32_t count) {
  while (workers.size() < count) {
    add_worker("worker_" + std::to_string(workers.size()));
  }
  rank_workers();
}

void SeriesListing::add_notes(const std::string& file, const ProblemList& problems,
                              const std::optional<Problem>& rest) {
  for (Problem& problem : problems.all()) {
    notes.add(in_file(std::move(problem), file));
  }
  if (rest) {
    notes.add(in_file(*rest, file));
  }
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
  if (rows.size() == 0 || rows[rows.size() - 1].second != file) {
    rows.push_back({rows_.row(), file});
  }
}

Series& SeriesRows::series_of(std::string_view name) {
  return series_of(id_of_next(table_->names, table_->series, previous_, name));
}

Series& SeriesRows::series_of(std::uint32_t id) {
  previous_ = id;
  Series& series = table_->series[id];
  name_in_tables(series, id);
  if (series.restarts != table_->restarts) {
    apply_restarts(series, id);
  }
  return series;
}

void SeriesRows::restart(std::int64_t step) {
  rows_.end_row();
  std::vector<SeriesTable::Restart>& deferred = table_->deferred;
  while (!deferred.empty() && deferred.back().step >= step) {
    deferred.pop_back();
  }
  deferred.push_back({++table_->restarts, step});
}

void SeriesRows::apply_restarts() {
  if (table_ == nullptr || table_->deferred.empty()) {
    return;
  }
  for (std::uint32_t id = 0; id < table_->series.size(); ++id) {
    apply_restarts(table_->series[id], id);
  }
  table_->deferred.clear();
}

void SeriesRows::apply_restarts(Series& series, std::uint32_t id) {
  // Of the restarts since the last value of the series, the first that is left has the least step.
  const auto least = std::ranges::upper_bound(table_->deferred, series.restarts, {},
                                              [](const auto& restart) { return restart.number; });
  series.restarts = table_->restarts;
  if (least != table_->deferred.end()) {
    restart(series, id, least->step);
  }
}

void SeriesRows::restart(std::span<const std::uint32_t> ids, std::int64_t step) {
  rows_.end_row();
  for (const std::uint32_t id : ids) {
    restart(table_->series[id], id, step);
  }
}

void SeriesRows::restart(Series& series, std::uint32_t id, std::int64_t step) {
  if (!series.has_value || series.last_step < step) {
    return;
  }
  name_in_tables(series, id);
  supersede(series, step);
  series.has_value = step > INT64_MIN;
  series.last_step = series.has_value ? step - 1 : step;
  series.last_bits.reset();
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
  loaded_.supersessions.push_back({0, series.name, worker_, from_step, rows_.row(), false});
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
  series.last_bits.reset();
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

bool SeriesRows::goes_on(std::span<const Number> numbers) const {
  if (!rows_.repeats() || numbers.size() != rows_.repeated_names().size()) {
    return false;
  }
  bool same = true;
  for (std::size_t i = 0; same && i < numbers.size(); ++i) {
    const Series& series = table_->series[numbers[i].series];
    same = series.name == rows_.repeated_names()[i] && series.last_row == rows_.row() &&
           (series.kinds & bit_of(numbers[i].kind)) != 0 && rows_.repeats_number(i, numbers[i].dtype);
  }
  return same;
}

void SeriesRows::end_rows(std::span<const Number> last) {
  for (const Number& number : last) {
    Series& series = table_->series[number.series];
    series.last_step = rows_.step();
    series.last_row = rows_.row();
    series.last_bits = number.bits;
    previous_ = number.series;
  }
}

bool SeriesRows::take_alike(std::span<const Number> numbers, std::int64_t step, double wall_time) {
  std::byte* to = goes_on(numbers) ? add_row(step, wall_time) : nullptr;
  if (to == nullptr) {
    return false;
  }
  for (const Number& number : numbers) {
    std::memcpy(to, &number.bits, sizeof number.bits);
    to += sizeof number.bits;
  }
  end_rows(numbers);
  return true;
}

const SeriesRows::ReductionNames& SeriesRows::reductions_of(Series& series) {
  if (series.reductions == no_id) {
    series.reductions = static_cast<std::uint32_t>(reduction_names_.size());
    ReductionNames& ids = reduction_names_.emplace_back();
    NameTable& names = rows_.tables().names;
    const std::string name(names[series.name]);
    std::ranges::transform(reduction_prefixes, ids.begin(),
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

void SeriesRows::finish(Found& found, std::shared_ptr<const CollectionsInfo> collections) {
  apply_restarts();
  rows_.end_row();
  cursor_.next_row = rows_.row();
  SeriesListing ranks;
  ranks.add_workers(cursor_.workers);
  rows_.finish(ranks);
  found.collections = add_to_collections(found.afresh ? nullptr : std::move(collections), new_names_);
  found.news = !found.loaded.rows.empty();
}

}  // namespace smd::detail::layout
