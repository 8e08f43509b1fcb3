// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/row_writer.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::layout {

namespace {

/// Entries of rows that share a payload, at most.
constexpr std::size_t stretch_entries = 4096;

/// The id of a list among others: one of its hash, or a new one, which `add` makes.
template <class List, class Lists, class Add>
std::uint32_t id_of_list(const List& list, const Lists& lists,
                         std::unordered_multimap<std::uint64_t, std::uint32_t>& known, Add add) {
  Fnv hash;
  for (const auto item : list) {
    hash.add(item);
  }
  const auto [first, end] = known.equal_range(hash.value);
  const auto found = std::find_if(first, end, [&](const auto& entry) { return lists[entry.second] == list; });
  if (found != end) {
    return found->second;
  }
  const auto id = static_cast<std::uint32_t>(lists.size());
  add();
  known.emplace(hash.value, id);
  return id;
}

}  // namespace

RowWriter::RowWriter(LoadedSteps& loaded, std::uint64_t next_id)
    : loaded_(loaded), tables_(loaded.tables.emplace_back()), row_(next_id) {}

void RowWriter::begin_file(std::uint32_t path, std::uint32_t worker) {
  end_row();
  path_ = path;
  worker_ = worker;
}

std::uint32_t RowWriter::list_of_names() {
  return id_of_list(names_, tables_.name_lists, known_names_, [&] { tables_.name_lists.push_back(names_); });
}

std::uint32_t RowWriter::list_of_types() {
  const TypeCode record = static_cast<TypeCode>(static_cast<unsigned>(PlaceKind::record) << dtype_bits |
                                                static_cast<unsigned>(Dtype::float32));
  if (std::all_of(types_.begin(), types_.end(), [&](TypeCode code) { return code == record; })) {
    return no_id;
  }
  return id_of_list(types_, type_codes_, known_types_, [&] {
    TypeList list;
    list.reserve(types_.size());
    for (const TypeCode code : types_) {
      list.push_back({static_cast<PlaceKind>(code >> dtype_bits), static_cast<Dtype>(code & 0xFFu), {}});
    }
    tables_.type_lists.push_back(std::move(list));
    type_codes_.push_back(types_);
  });
}

/// The current row turns out to be unlike the last one: what it has so far goes on by itself.
void RowWriter::leave_stretch() {
  for (std::size_t i = 0; i < filled_; ++i) {
    const auto number = [i](const std::byte* column, bool wide) {
      std::uint64_t value = 0;
      std::memcpy(&value, column + i * (wide ? sizeof value : sizeof(std::uint32_t)),
                  wide ? sizeof value : sizeof(std::uint32_t));
      return value;
    };
    names_.push_back(stretch_->names[i]);
    types_.push_back(stretch_->types[i]);
    starts_.push_back(number(stretch_->starts, stretch_->wide));
    lengths_.push_back(number(stretch_->lengths, stretch_->wide_lengths));
  }
  filled_ = 0;
}

void RowWriter::end_new_row() {
  leave_stretch();
  StretchKey key;
  key.names = list_of_names();
  key.types = list_of_types();
  key.wide = std::any_of(starts_.begin(), starts_.end(), is_wide);
  key.wide_lengths = key.types != no_id || std::any_of(lengths_.begin(), lengths_.end(), is_wide);
  enter_stretch(key);
  for (; filled_ < starts_.size(); ++filled_) {
    store(stretch_->starts, stretch_->wide, starts_[filled_]);
    store(stretch_->lengths, stretch_->wide_lengths, lengths_[filled_]);
  }
  names_.clear();
  types_.clear();
  starts_.clear();
  lengths_.clear();
  push_row();
}

void RowWriter::enter_stretch(const StretchKey& key) {
  Stretch& stretch = stretches_[key];
  if (stretch.names.empty()) {
    stretch.names = names_;
    stretch.types = types_;
    stretch.wide = key.wide;
    stretch.wide_lengths = key.wide_lengths;
  }
  if (stretch.rows == stretch.capacity) {
    make_room(stretch, key);
  }
  stretch_ = &stretch;
}

/// Twice as many rows as before: a look that finds a step or two takes no more memory than these.
void RowWriter::make_room(Stretch& stretch, const StretchKey& key) {
  const std::size_t count = stretch.names.size();
  stretch.capacity = static_cast<std::uint32_t>(
      std::max<std::size_t>(1, std::min(std::size_t{2} * stretch.capacity, stretch_entries / count)));
  stretch.rows = 0;
  std::uint32_t* const starts = tables_.arena.take(count * stretch.capacity, stretch.wide);
  std::uint32_t* const lengths = tables_.arena.take(count * stretch.capacity, stretch.wide_lengths);
  stretch.starts = reinterpret_cast<std::byte*>(starts);
  stretch.lengths = reinterpret_cast<std::byte*>(lengths);
  stretch.payload = static_cast<std::uint32_t>(tables_.payloads.size());
  Payload& payload = tables_.payloads.emplace_back();
  payload.names = key.names;
  payload.types = key.types;
  payload.count = static_cast<std::uint32_t>(count);
  payload.wide = stretch.wide;
  payload.wide_lengths = stretch.wide_lengths;
  payload.starts = starts;
  payload.lengths = lengths;
}

void RowWriter::push_row() {
  StepRow row;
  row.file = {step_, worker_, row_};
  row.mode_step = step_;
  row.payload = stretch_->payload;
  row.index = stretch_->rows;
  row.event_file = path_;
  loaded_.rows.push_back({row, 0});
  ++row_;
  ++stretch_->rows;
  stretch_->starts += filled_ * (stretch_->wide ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
  stretch_->lengths += filled_ * (stretch_->wide_lengths ? sizeof(std::uint64_t) : sizeof(std::uint32_t));
  filled_ = 0;
}

void RowWriter::finish(const Listing& listing) {
  end_row();
  const auto before = [&](const LoadedSteps::Row& a, const LoadedSteps::Row& b) {
    return listing.before(a.row.file, b.row.file);
  };
  if (!std::is_sorted(loaded_.rows.begin(), loaded_.rows.end(), before)) {
    std::sort(loaded_.rows.begin(), loaded_.rows.end(), before);
  }
}

}  // namespace smd::detail::layout
