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

/// What one folder held when it was last listed.
struct FolderState {
  std::optional<storage::FolderStamp> stamp;
  std::chrono::steady_clock::time_point since;  ///< When the folder was first seen with that stamp.
  bool settled = false;  ///< It was listed so long after that that the same stamp means the same content.
  std::vector<std::string> folders;
  ProblemList notes{limits::problems_per_file};
};

/// An index file that was damaged when it was last read, and since when it is so.
struct HalfWritten {
  Problem problem;
  std::chrono::steady_clock::time_point since;
};

/// The index files of a debugger trial. Ids stay the same in later listings of the same trial.
class DebuggerListing final : public Listing {
 public:
  DebuggerListing() { named.emplace(); }
  /// Nothing listed yet, but the ids of an earlier listing, which may be null.
  explicit DebuggerListing(const DebuggerListing* before);

  NameTable folders;
  NameTable worker_parts;  ///< By worker id: the worker's name as it stands in file names.
  NameTable leaves;
  std::vector<std::int64_t> newest_step;  ///< By worker id: the last step that the worker has a file of.
  std::vector<std::shared_ptr<const FolderState>> folder_states;  ///< By folder id; null: not there, or unreadable.
  std::vector<LoadedSteps::Failure> failures;                     ///< In the order of the files.
  std::map<StepPart, HalfWritten> half_written;

  /// `leaf`: `no_id` for the name that the grammar gives.
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
  /// Takes in the files of `fresh`, in any order and perhaps more than once.
  void take_fresh();
  /// The worker's id; a new worker has no rank until `take_fresh`.
  [[nodiscard]] std::uint32_t worker_of(std::string_view worker_part);

 private:
  [[nodiscard]] bool before_in_worker(const StepPart& a, const StepPart& b) const override { return path(a) < path(b); }
};

}  // namespace smd::detail::layout
