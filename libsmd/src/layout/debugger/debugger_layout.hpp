// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout_kind.hpp"
#include "layout/name_table.hpp"
#include "storage/storage.hpp"
#include "text/limits.hpp"
#include "types/problem_list.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::layout {

/// The content of a folder when it was last listed.
struct FolderState {
  std::optional<storage::FolderStamp> stamp;
  std::chrono::steady_clock::time_point since;  ///< When the folder was first seen with that stamp.
  bool settled = false;  ///< It was listed so long after `since` that the same stamp means the same content.
  std::vector<std::string> folders;
  std::vector<std::uint64_t> files;  ///< Hashes of its index files and their inodes.
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
  /// Continues from an earlier listing, which may be null: keeps ids and files, but not `fresh`, `replaced`
  /// and `notes`.
  explicit DebuggerListing(const DebuggerListing* before);

  NameTable folders;
  NameTable worker_parts;  ///< By worker id, the worker's name as in file names.
  NameTable leaves;
  std::vector<std::int64_t> newest_step;  ///< By worker id, the last step of which the worker has a file.
  std::vector<std::shared_ptr<const FolderState>> folder_states;  ///< By folder id; null if missing or unreadable.
  std::vector<LoadedSteps::Failure> failures;                     ///< In the order of the files.
  std::vector<StepPart> replaced;  ///< Files that have other inodes than at the look before, and new ones.
  std::map<StepPart, HalfWritten> half_written;

  /// `leaf`: `no_id` if `append_index_leaf` appends the file's name.
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
  /// Appends the file's name within its folder.
  void append_leaf(std::string& text, const StepPart& file) const;
  /// Sorts `fresh`, removes duplicates, and adds its files to `files`.
  void take_fresh();
  /// Returns the worker's id. A new worker has no rank until `take_fresh`.
  [[nodiscard]] std::uint32_t worker_of(std::string_view worker_part);

 private:
  [[nodiscard]] bool before_in_worker(const StepPart& a, const StepPart& b) const override { return path(a) < path(b); }
};

/// A folder of index files that its listing left open.
struct OpenFolder {
  std::uint32_t id = no_id;                 ///< In `DebuggerListing::folders`.
  std::unique_ptr<storage::Folder> folder;  ///< Null: none is open.
};

/// Lists the files below `index/`, by names and folders' stamps alone. `before` is an earlier listing of the same
/// trial, whose ids and files are kept, or null. Folders that have not changed since then are not listed again. With
/// `since`, only that step and later ones are listed in a remote store. At most `jobs` threads list folders. Sets
/// `open` to the last folder if it is the only one on its level.
Outcome<DebuggerListing> list_index(storage::Storage& storage, const DebuggerListing* before,
                                    std::optional<std::int64_t> since, std::chrono::steady_clock::time_point now,
                                    unsigned jobs, OpenFolder& open);

/// Reads index files, several at once. `look` may be null. `open`: a folder that need not be opened.
LoadedSteps load_steps(storage::Storage& storage, const DebuggerListing& listing, std::span<const StepPart> files,
                       unsigned jobs, const LookRequest* look, const OpenFolder& open);

/// Returns the union of all workers' collections. `before` is an earlier result, or null; it is returned if it had no
/// problems and no file was added, removed or replaced. On a remote store it is returned once all workers have their
/// collections, because each file is written only once. While the job runs, the worker of a damaged file that was
/// written within the last `half_written` does not count yet, unless it did in `before`.
std::shared_ptr<const CollectionsInfo> read_collections(storage::Storage& storage,
                                                        std::shared_ptr<const CollectionsInfo> before,
                                                        std::chrono::nanoseconds half_written);

}  // namespace smd::detail::layout
