// SPDX-License-Identifier: Apache-2.0
#include "layout/step_row_writer.hpp"

#include <functional>

namespace smd::detail::layout {

namespace {

/// The most entries of rows that share a payload.
constexpr std::size_t stretch_entries = 4096;

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
  if (const auto at = std::find(names_.begin(), names_.end(), name); at != names_.end()) {
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
  if (std::all_of(types_.begin(), types_.end(), [&](TypeCode code) { return code == record; })) {
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
    return std::any_of(lengths_.begin(), lengths_.end(), is_wide) ? LengthForm::wide : LengthForm::narrow;
  }
  const bool numbers = std::all_of(types_.begin(), types_.end(), [](TypeCode code) {
    return code >> dtype_bits == static_cast<unsigned>(ValueForm::number);
  });
  const bool same = std::adjacent_find(lengths_.begin(), lengths_.end(), std::not_equal_to<>()) == lengths_.end();
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
  key.wide = std::any_of(starts_.begin(), starts_.end(), is_wide);
  key.length_form = length_form(key.types == no_id);
  enter_stretch(key);
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

void StepRowWriter::enter_stretch(const StretchKey& key) {
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
  if (std::adjacent_find(rows.begin(), rows.end(), std::not_fn(stand_apart)) == rows.end()) {
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
  if (!std::is_sorted(single.begin(), single.end(), before)) {
    std::sort(single.begin(), single.end(), before);
  }
  rows = std::move(single);
}

}  // namespace smd::detail::layout
