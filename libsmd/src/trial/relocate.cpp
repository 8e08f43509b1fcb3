// SPDX-License-Identifier: Apache-2.0
// Objects of a remote store may be replaced between two requests: index files that were read are then out of date.
#include "trial/records.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::trial {

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
