// SPDX-License-Identifier: Apache-2.0
// Converts the places of a row's entries to public types.
#include "trial/records.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::trial {

/// Sets all members of a location except its file.
void Records::place(const Snapshot& snapshot, const layout::Payload& payload, std::uint32_t position,
                    TensorLocation& location) const {
  location.offset = payload.start(position);
  location.length = payload.length(position);
  const layout::EntryType& type = snapshot.catalog.type(payload, position);
  location.part = layout::part_of_record(type.kind);
  if (type.kind == layout::PlaceKind::number && location.bare && location.bare->number &&
      location.bare.use_count() == 1) {  // not shared, so it can be reused
    BareValue& bare = *std::const_pointer_cast<BareValue>(location.bare);
    location.offset = 0;
    location.length = item_size(type.dtype);
    bare.dtype = type.dtype;
    bare.number = payload.start(position);
    bare.wall_time = payload.number_time(position);
    return;
  }
  location.bare.reset();
  if (type.kind == layout::PlaceKind::elements) {
    location.bare =
        std::make_shared<BareValue>(BareValue{type.dtype, type.shape, {}, payload.wall_time, type.unread_type});
  } else if (type.kind == layout::PlaceKind::number) {
    location.offset = 0;
    location.length = item_size(type.dtype);
    location.bare =
        std::make_shared<BareValue>(BareValue{type.dtype, {}, payload.start(position), payload.number_time(position)});
  }
}

std::string Records::event_path(const Snapshot& snapshot, const layout::StepRow& row) const {
  return row.event_file == no_id ? layout_.event_path(*snapshot.listing, row.file)
                                 : std::string(snapshot.catalog.paths()[row.event_file]);
}

TensorLocation Records::location(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t position) const {
  const layout::Payload payload = snapshot.catalog.payload(row);
  TensorLocation location;
  location.file = event_path(snapshot, row);
  place(snapshot, payload, position, location);
  return location;
}

std::optional<TensorEntry> Records::entry(const Snapshot& snapshot, const layout::StepRow& row,
                                          std::uint32_t tensor) const {
  TensorEntry entry;
  return fill(snapshot, row, tensor, event_path(snapshot, row), entry) ? std::optional(std::move(entry)) : std::nullopt;
}

bool Records::fill(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor,
                   const std::string& event_path, TensorEntry& entry) const {
  const Catalog& catalog = snapshot.catalog;
  const std::span<const Item> items = catalog.items(row).of(tensor);
  const ShapeList* const shapes = catalog.shapes(row);
  const ShapeList::Saved* const shape = shapes == nullptr ? nullptr : shapes->of(tensor);
  if (items.empty() && shape == nullptr) {
    return false;
  }
  const layout::Payload payload = catalog.payload(row);
  entry.reductions.clear();
  entry.shape.reset();
  entry.original_name.reset();
  entry.tensor = catalog.tensors()[tensor];
  entry.worker = snapshot.worker(row);
  entry.step = GlobalStep(row.file.step);
  entry.mode = row.mode;
  entry.mode_step = ModeStep(row.mode_step);
  entry.superseded = row.superseded;
  bool has_value = false;
  for (const Item& item : items) {
    TensorLocation* at = nullptr;
    if (item.reduction == no_id) {
      has_value = true;
      at = entry.value ? &*entry.value : &entry.value.emplace();
    } else {
      entry.reductions.push_back({std::string(catalog.reductions()[item.reduction]), {}});
      at = &entry.reductions.back().location;
    }
    at->file = event_path;
    place(snapshot, payload, item.position, *at);
  }
  if (!has_value) {
    entry.value.reset();
  }
  std::sort(entry.reductions.begin(), entry.reductions.end(),
            [](const SavedReduction& a, const SavedReduction& b) { return a.name < b.name; });
  if (shape != nullptr) {
    entry.shape = shape->shape;
    if (shape->original != no_id) {
      entry.original_name = std::string(catalog.originals()[shape->original]);
    }
  }
  return true;
}

}  // namespace smd::detail::trial
