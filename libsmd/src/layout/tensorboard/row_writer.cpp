// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/row_writer.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace smd::detail::layout {

namespace {

constexpr unsigned dtype_bits = 8;

/// The id of a list among others: that used last, one of its hash, or a new one, which `add` makes.
template <class List, class Lists, class Add>
std::uint32_t id_of_list(const List& list, const Lists& lists, std::uint32_t last,
                         std::unordered_multimap<std::uint64_t, std::uint32_t>& known, Add add) {
  if (last != no_id && lists[last] == list) {
    return last;
  }
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

void RowWriter::add(std::uint32_t name, PlaceKind kind, Dtype dtype, std::uint64_t start, std::uint64_t length) {
  names_.push_back(name);
  types_.push_back(static_cast<TypeCode>(static_cast<unsigned>(kind) << dtype_bits | static_cast<unsigned>(dtype)));
  starts_.push_back(start);
  lengths_.push_back(length);
}

std::uint32_t RowWriter::list_of_names() {
  return id_of_list(names_, tables_.name_lists, last_names_, known_names_,
                    [&] { tables_.name_lists.push_back(names_); });
}

std::uint32_t RowWriter::list_of_types() {
  const TypeCode record = static_cast<TypeCode>(static_cast<unsigned>(PlaceKind::record) << dtype_bits |
                                                static_cast<unsigned>(Dtype::float32));
  if (std::all_of(types_.begin(), types_.end(), [&](TypeCode code) { return code == record; })) {
    return no_id;
  }
  return id_of_list(types_, type_codes_, last_types_, known_types_, [&] {
    TypeList list;
    list.reserve(types_.size());
    for (const TypeCode code : types_) {
      list.push_back({static_cast<PlaceKind>(code >> dtype_bits), static_cast<Dtype>(code & 0xFFu), {}});
    }
    tables_.type_lists.push_back(std::move(list));
    type_codes_.push_back(types_);
  });
}

void RowWriter::end_row() {
  if (names_.empty()) {
    return;
  }
  const auto too_wide = [](std::uint64_t number) { return number > std::numeric_limits<std::uint32_t>::max(); };
  Payload payload;
  payload.names = last_names_ = list_of_names();
  payload.types = list_of_types();
  last_types_ = payload.types == no_id ? last_types_ : payload.types;
  payload.count = static_cast<std::uint32_t>(names_.size());
  payload.wide = std::any_of(starts_.begin(), starts_.end(), too_wide);
  payload.wide_lengths = payload.types != no_id || std::any_of(lengths_.begin(), lengths_.end(), too_wide);
  payload.starts = tables_.arena.keep(starts_, payload.wide);
  payload.lengths = tables_.arena.keep(lengths_, payload.wide_lengths);
  StepRow row;
  row.file = {step_, worker_, row_};
  row.mode_step = step_;
  row.payload = static_cast<std::uint32_t>(tables_.payloads.size());
  row.event_file = path_;
  tables_.payloads.push_back(payload);
  loaded_.rows.push_back({row, 0});
  ++row_;
  names_.clear();
  types_.clear();
  starts_.clear();
  lengths_.clear();
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
