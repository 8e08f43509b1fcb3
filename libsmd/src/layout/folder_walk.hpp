// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "text/limits.hpp"
#include "types/problem_list.hpp"
#include "wire/first_bytes.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The one walk through folders, on disk and on S3.
namespace smd::detail::layout {

using Entries = std::vector<storage::DirEntry>;  ///< By name.

/// Returns whether a file of that name is only what macOS keeps beside another one on a foreign disk: `._NAME`.
[[nodiscard]] constexpr bool is_apple_double(std::string_view leaf) noexcept { return leaf.starts_with("._"); }

/// Returns whether a name is that of a copy that is being made, as rsync's `.~tmp~`, of a checkpoint that a Trainer is
/// saving, `tmp-checkpoint-10`, or of what a copy replaced.
[[nodiscard]] bool is_name_of_copy(std::string_view leaf) noexcept;
/// Why a folder of such a name is left out.
inline constexpr std::string_view name_is_of_copy = "its name is that of an unfinished copy";

/// Returns the first bytes of a file, which tell what it is.
[[nodiscard]] Outcome<std::vector<std::byte>> read_first_bytes(storage::Storage& storage, const std::string& path,
                                                               std::size_t most = wire::telling_bytes);
[[nodiscard]] Outcome<std::vector<std::byte>> read_first_bytes(const storage::File& file, std::size_t most);

struct WalkLimits {
  std::size_t folders = limits::searched_folders;
  std::size_t names = limits::searched_names;
  std::size_t names_of_one = storage::all_names;  ///< A folder with more is not visited, and ends the walk.
  std::function<bool()> stop = {};                ///< Once it returns true, the walk fails.
};

/// Visits a place and the folders below it, level by level. Follows symbolic links, but visits each folder once, under
/// its own name rather than that of a link. No link leads to the place, to a folder above it, or into the system's
/// /proc, /sys and /dev. Unfinished copies below the place are not visited. The functions that ask about a folder are
/// about the current one.
class FolderWalk {
 public:
  /// `name`: the place's own, for `name()`. `storage` must outlive this.
  FolderWalk(storage::Storage& storage, std::string_view name, WalkLimits limits = {});

  /// Visits the place, and then each folder that was entered. Returns false if there is no more, or at a limit.
  bool next();
  /// Adds the folders in the current one to those that are visited, except some by their names.
  void enter_all(std::span<const std::string_view> except = {});

  /// Returns the path relative to the place, which is itself "".
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string_view name() const noexcept;
  [[nodiscard]] const Entries& entries() const noexcept { return entries_; }
  [[nodiscard]] bool has(std::string_view name) const noexcept { return find(name) != nullptr; }
  [[nodiscard]] bool has_folder(std::string_view name) const noexcept {
    const storage::DirEntry* const entry = find(name);
    return entry != nullptr && entry->kind == storage::EntryKind::folder;
  }
  /// Returns what lies in a folder at or below the current one, whose path is relative to it. Empty if it cannot be
  /// listed. Valid until `next`.
  [[nodiscard]] const Entries& below(std::string_view folder) {
    return folder.empty() ? entries_ : listed(path_of(folder));
  }
  /// As `below`, for a folder beside the current one; empty: the one that holds both. @pre !path().empty()
  [[nodiscard]] const Entries& beside(std::string_view folder);
  /// Returns the path relative to the place of what has a path relative to the current folder.
  [[nodiscard]] std::string path_of(std::string_view below) const;
  [[nodiscard]] storage::Storage& storage() const noexcept { return storage_; }

  /// Returns why the place itself could not be listed, or that the walk was stopped.
  [[nodiscard]] const std::optional<Problem>& failure() const noexcept { return failure_; }
  /// Returns whether a limit ended the walk; `notes` then says so.
  [[nodiscard]] bool cut() const noexcept { return cut_; }
  /// Returns the folders that were not visited, and why.
  [[nodiscard]] ProblemList& notes() noexcept { return notes_; }

 private:
  const Entries& listed(std::string path);
  [[nodiscard]] const storage::DirEntry* find(std::string_view name) const noexcept;
  Outcome<Entries> counted(Outcome<Entries> entries);
  void list_ahead();
  [[nodiscard]] bool may_visit(const std::string& folder, bool link);

  storage::Storage& storage_;
  std::string place_name_;
  WalkLimits left_;
  std::deque<std::string> folders_{""};  ///< To visit; links after all others.
  std::deque<std::string> links_;
  std::set<storage::FolderIdentity> visited_;
  std::map<std::string, Entries, std::less<>> listed_;  ///< Ahead of their visit.
  std::string path_;
  Entries entries_;
  std::optional<Problem> failure_;
  bool cut_ = false;
  ProblemList notes_{limits::problems_per_trial};
};

}  // namespace smd::detail::layout
