// SPDX-License-Identifier: Apache-2.0
#include "trial/trial_state.hpp"

#include "layout/folder_walk.hpp"
#include "text/escape.hpp"
#include "wire/first_bytes.hpp"

#include <algorithm>

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
  const ShapeList::Saved* const shape = catalog.shapes(row).of(tensor);
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
    if (at->type && is_shape_alone(*at->type, at->length)) {
      entry.shape = at->type->shape;
    }
  }
  if (!has_value) {
    entry.value.reset();
  }
  std::ranges::sort(entry.reductions, {}, &SavedReduction::name);
  if (shape != nullptr) {
    entry.shape = shape->shape;
    if (shape->original != no_id) {
      entry.original_name = std::string(catalog.originals()[shape->original]);
    }
  }
  return true;
}

/// Looks at the newest step files only.
bool Records::writer_went_on(const std::string& file, const Snapshot& snapshot) const {
  const layout::StepRow* const own = row_naming(file, snapshot);
  if (own == nullptr || !snapshot.listing->named) {
    return false;
  }
  constexpr int enough = 4;  // of the newest files: a copying tool may lag by a few
  constexpr int most_steps = 256;
  const layout::Listing& listing = *snapshot.listing;
  const SortedChunks<layout::StepPart>& files = listing.named->files;
  int looked = 0;
  int steps = 0;
  // Step by step from the newest, whatever the number of workers. Files that were not read count by their names.
  for (auto it = files.end(); it != files.begin() && looked < enough && steps < most_steps; ++steps) {
    const std::int64_t step = std::prev(it)->step;
    if (step <= own->file.step) {
      break;
    }
    const auto first = files.partition_point([step](const layout::StepPart& part) { return part.step < step; });
    const std::uint32_t rank = listing.worker_rank[own->file.worker];
    const auto mine = files.partition_point([&](const layout::StepPart& part) {
      return part.step < step || (part.step == step && listing.worker_rank[part.worker] < rank);
    });
    it = first;
    if (mine == files.end() || mine->step != step || mine->worker != own->file.worker) {
      continue;
    }
    std::string event_file = layout_.event_path(listing, *mine);
    if (const Step* const known = snapshot.find(step)) {
      const std::span<const layout::StepRow> rows = snapshot.rows_of(*known);
      const auto row = std::ranges::find_if(rows, [&](const layout::StepRow& other) { return other.file == *mine; });
      if (row != rows.end()) {
        if (snapshot.catalog.payload(*row).count == 0) {
          continue;
        }
        event_file = *this->file(snapshot, *row);
      }
    }
    ++looked;
    if (storage_.exists(event_file)) {
      return true;
    }
  }
  return false;
}

/// Returns a row whose records are in the event file of that name. Null if there is none.
const layout::StepRow* Records::row_naming(std::string_view event_file, const Snapshot& snapshot) const {
  const std::uint32_t path = snapshot.catalog.paths().find(event_file);
  if (path != no_id && snapshot.row_of_path && path < snapshot.row_of_path->size() &&
      (*snapshot.row_of_path)[path].payload != no_id) {
    return &(*snapshot.row_of_path)[path];
  }
  const auto place = layout_.step_of_path(*snapshot.listing, event_file);
  const Step* const step = place ? snapshot.find(place->first) : nullptr;
  if (step == nullptr) {
    return nullptr;
  }
  const std::uint32_t worker = place->second;
  // Rows of a step are in the order of workers' names.
  const std::vector<std::uint32_t>& ranks = snapshot.listing->worker_rank;
  const std::span<const layout::StepRow> rows = snapshot.rows_of(*step);
  auto row = std::ranges::lower_bound(rows, ranks[worker], {},
                                      [&](const layout::StepRow& other) { return ranks[other.file.worker]; });
  for (; row != rows.end() && row->file.worker == worker; ++row) {
    if (row->event_file == no_id && snapshot.catalog.payload(*row).count > 0 &&
        layout_.event_path(*snapshot.listing, row->file) == event_file) {
      return &*row;
    }
  }
  return nullptr;
}

Problem Records::explain(Problem problem, const Place& place, const Snapshot& snapshot) const {
  if (problem.kind == ProblemKind::damaged && !problem.offset) {
    // The file could not even be opened: its name is at fault, which an index file contains.
    if (const layout::StepRow* const row = row_naming(*place.file, snapshot)) {
      problem.text = "its event file " + in_quotes(*place.file) + " is refused: " + problem.text;
      problem.file = snapshot.listing->path(row->file);
    }
    return problem;
  }
  if (problem.kind == ProblemKind::damaged && problem.offset == 0) {
    // The first record of a file: perhaps it is another file.
    const auto first = layout::read_first_bytes(storage_, *place.file);
    const wire::KnownFile* const known = first ? wire::known_file(*first, *place.file) : nullptr;
    if (known != nullptr && known->kind != wire::FileKind::text && known->kind != wire::FileKind::gzip) {
      problem.text = say(*known);
    }
  }
  if (problem.kind != ProblemKind::not_found && problem.kind != ProblemKind::not_yet) {
    return problem;
  }
  const bool missing = problem.kind == ProblemKind::not_found;
  if (missing && layout_.rows_name_seen_files() && storage_.exists(problem.file)) {
    return problem;  // another file has its name now
  }
  const bool gone_on = snapshot.ended || writer_went_on(*place.file, snapshot);
  problem.file = *place.file;
  if (missing && layout_.rows_name_seen_files()) {
    problem.offset.reset();
    problem.text = "is no longer there: it was removed while the trial was read";
    problem.kind = ProblemKind::absent;
  } else if (missing) {
    problem.offset.reset();
    problem.text = gone_on ? "the event file is missing" : "the event file is not there yet";
    problem.kind = gone_on ? ProblemKind::absent : ProblemKind::not_yet;
  } else {
    problem.kind = gone_on ? ProblemKind::damaged : ProblemKind::not_yet;
  }
  return problem;
}

namespace {

constexpr std::size_t most_kept = 64;

/// Returns the place of a record according to an index file that was just read. Nullopt if it does not list the record.
std::optional<Place> find_in(const layout::LoadedSteps& loaded, std::string_view tensor, std::string expected_path) {
  if (loaded.rows.empty() || loaded.rows.front().row.payload == no_id) {
    return std::nullopt;
  }
  const layout::StepRow& row = loaded.rows.front().row;
  const std::uint32_t number = loaded.rows.front().tables;
  const layout::Tables& tables = loaded.tables[number];
  const layout::Payload& payload = tables.payloads[row.payload];
  const layout::NameList& names = tables.name_lists[payload.names];
  const std::uint32_t name = tables.names.find(tensor);
  // The last of several entries with the same name counts.
  const auto found = std::find(names.rbegin(), names.rend(), name);
  if (found == names.rend()) {
    return std::nullopt;
  }
  const auto position = static_cast<std::uint32_t>(names.rend() - found - 1);
  Place place;
  place.file = std::make_shared<const std::string>(row.event_file == no_id ? std::move(expected_path)
                                                                           : std::string(tables.paths[row.event_file]));
  place.offset = payload.start(position);
  place.length = payload.length(position);
  return place;
}

}  // namespace

std::shared_ptr<const layout::LoadedSteps> Records::read_again(const layout::StepPart& file,
                                                               const Snapshot& snapshot) const {
  const std::lock_guard lock(again_mutex_);
  if (again_.size() >= most_kept) {
    again_.clear();
  }
  std::shared_ptr<const layout::LoadedSteps>& kept = again_[file];
  if (!kept) {
    storage_.forget(snapshot.listing->path(file));
    kept =
        std::make_shared<const layout::LoadedSteps>(layout_.load(storage_, *snapshot.listing, std::span(&file, 1), 1));
  }
  return kept;
}

void Records::forget_again() {
  const std::lock_guard lock(again_mutex_);
  again_.clear();
}

std::optional<Place> Records::again(const Problem& problem, const Place& place, std::string_view tensor,
                                    const Snapshot& snapshot) const {
  const bool passing = problem.kind == ProblemKind::io;
  // Without an offset, the file's name was refused.
  const bool no_fit =
      problem.kind == ProblemKind::not_yet || (problem.kind == ProblemKind::damaged && problem.offset.has_value());
  const layout::StepRow* const row =
      storage_.remote() && (passing || no_fit) ? row_naming(*place.file, snapshot) : nullptr;
  if (row != nullptr) {
    auto moved = find_in(*read_again(row->file, snapshot), tensor, layout_.event_path(*snapshot.listing, row->file));
    if (moved && *moved != place) {
      return moved;
    }
  }
  return passing ? std::optional(place) : std::nullopt;
}

}  // namespace smd::detail::trial
