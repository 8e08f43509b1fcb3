// SPDX-License-Identifier: Apache-2.0
// Explains why a record cannot be read.
#include "layout/folder_walk.hpp"
#include "text/escape.hpp"
#include "trial/records.hpp"
#include "wire/first_bytes.hpp"

#include <algorithm>

namespace smd::detail::trial {

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
    const auto first = files.partition_point([step](const layout::StepPart& file) { return file.step < step; });
    const std::uint32_t rank = listing.worker_rank[own->file.worker];
    const auto mine = files.partition_point([&](const layout::StepPart& file) {
      return file.step < step || (file.step == step && listing.worker_rank[file.worker] < rank);
    });
    it = first;
    if (mine == files.end() || mine->step != step || mine->worker != own->file.worker) {
      continue;
    }
    std::string event_file = layout_.event_path(listing, *mine);
    if (const Step* const known = snapshot.find(step)) {
      const std::span<const layout::StepRow> rows = snapshot.rows_of(*known);
      const auto row =
          std::find_if(rows.begin(), rows.end(), [&](const layout::StepRow& other) { return other.file == *mine; });
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
  auto row = std::lower_bound(
      rows.begin(), rows.end(), ranks[worker],
      [&](const layout::StepRow& other, std::uint32_t rank) { return ranks[other.file.worker] < rank; });
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
      problem.text = "its event file '" + printable(*place.file) + "' is refused: " + problem.text;
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

}  // namespace smd::detail::trial
