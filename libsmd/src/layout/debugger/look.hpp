// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "layout/name_table.hpp"
#include "storage/storage.hpp"
#include "types/problem_list.hpp"

#include <smd/limits.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail::layout {

/// The content of a folder when it was last listed.
struct FolderState {
  std::optional<storage::FolderStamp> stamp;
  std::chrono::steady_clock::time_point since;  ///< When the folder was first seen with that stamp.
  bool settled = false;  ///< It was listed so long after `since` that the same stamp means the same content.
  std::vector<std::string> folders;
  ProblemList notes{limits::problems_per_file};
};

/// An index file that was damaged when it was last read, and when the same damage was first seen.
struct HalfWritten {
  Problem problem;
  std::chrono::steady_clock::time_point since;
};

/// The index files of a debugger trial. Ids stay the same in later listings of the same trial.
class DebuggerListing final : public Listing {
 public:
  DebuggerListing() { named.emplace(); }
  /// Continues from an earlier listing, which may be null: keeps ids and files, but not `fresh` and `notes`.
  explicit DebuggerListing(const DebuggerListing* before);

  NameTable folders;
  NameTable worker_parts;  ///< By worker id, the worker's name as in file names.
  NameTable leaves;
  std::vector<std::int64_t> newest_step;  ///< By worker id, the last step of which the worker has a file.
  std::vector<std::shared_ptr<const FolderState>> folder_states;  ///< By folder id; null if missing or unreadable.
  std::vector<LoadedSteps::Failure> failures;                     ///< In the order of the files.
  std::map<StepPart, HalfWritten> half_written;

  /// `leaf`: `no_id` if the file's name is `index_leaf(step, worker_part)`.
  [[nodiscard]] static StepPart file(std::int64_t step, std::uint32_t worker, std::uint32_t folder,
                                     std::uint32_t leaf) noexcept {
    return {step, worker, std::uint64_t{folder} << 32 | leaf};
  }
  [[nodiscard]] static std::uint32_t folder_of(const StepPart& file) noexcept {
    return static_cast<std::uint32_t>(file.id >> 32);
  }
  [[nodiscard]] static std::uint32_t leaf_of(const StepPart& file) noexcept {
    return static_cast<std::uint32_t>(file.id);
  }

  [[nodiscard]] std::string path(const StepPart& file) const override;
  /// Sorts `fresh`, removes duplicates, and adds its files to `files`.
  void take_fresh();
  /// Returns the worker's id. A new worker has no rank until `take_fresh`.
  [[nodiscard]] std::uint32_t worker_of(std::string_view worker_part);

 private:
  [[nodiscard]] bool before_in_worker(const StepPart& a, const StepPart& b) const override { return path(a) < path(b); }
};

/// `Layout::look` for a debugger trial: lists its index files, and reads those in range that are new.
Outcome<Found> look_at_trial(storage::Storage& storage, const LookRequest& request, const DebuggerListing* before,
                             std::shared_ptr<const CollectionsInfo> collections);

}  // namespace smd::detail::layout
