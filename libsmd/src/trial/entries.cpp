// SPDX-License-Identifier: Apache-2.0
// Where the entries of a row are.
#include "trial/records.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::trial {

void Records::set(const Snapshot& snapshot, const layout::Payload& payload, std::uint32_t position,
                  Place& place) const {
  place.offset = payload.start(position);
  place.length = payload.length(position);
  place.number = 0;
  place.wall_time = 0;
  if (payload.types == no_id) {
    place.type = nullptr;
    return;
  }
  const std::shared_ptr<const layout::TypeList>& types = snapshot.catalog.types(payload);
  const ValueType& type = (*types)[position];
  if (type.form == ValueForm::record) {  // a file whose values all are records has no list of types
    place.type = nullptr;
    return;
  }
  if (place.type.get() != &type) {
    place.type = {types, &type};
  }
  if (type.form == ValueForm::elements) {
    place.wall_time = payload.wall_time;
  } else if (type.form == ValueForm::number) {
    place.offset = 0;
    place.length = item_size(type.dtype);
    place.number = payload.start(position);
    place.wall_time = payload.number_time(position);
  }
}

std::shared_ptr<const std::string> Records::file(const Snapshot& snapshot, const layout::StepRow& row) const {
  return std::make_shared<const std::string>(row.event_file == no_id
                                                 ? layout_.event_path(*snapshot.listing, row.file)
                                                 : std::string(snapshot.catalog.paths()[row.event_file]));
}

Place Records::place(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t position,
                     std::shared_ptr<const std::string> file) const {
  Place place;
  place.file = std::move(file);
  set(snapshot, snapshot.catalog.payload(row), position, place);
  return place;
}

std::optional<TensorEntry> Records::entry(const Snapshot& snapshot, const layout::StepRow& row,
                                          std::uint32_t tensor) const {
  TensorEntry entry;
  return fill(snapshot, row, tensor, file(snapshot, row), entry) ? std::optional(std::move(entry)) : std::nullopt;
}

bool Records::fill(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor,
                   const std::shared_ptr<const std::string>& file, TensorEntry& entry) const {
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
    Place* at = nullptr;
    if (item.reduction == no_id) {
      has_value = true;
      at = entry.value ? &*entry.value : &entry.value.emplace();
    } else {
      entry.reductions.push_back({std::string(catalog.reductions()[item.reduction]), {}});
      at = &entry.reductions.back().place;
    }
    if (at->file != file) {
      at->file = file;
    }
    set(snapshot, payload, item.position, *at);
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
