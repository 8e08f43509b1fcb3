// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/folder_walk.hpp"
#include "layout/layout_kind.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a path is, and what messages say of it.
namespace smd::detail::trial {

/// The path of a trial, or of a place to search.
class TrialPath {
 public:
  explicit TrialPath(std::string_view path);

  /// Returns the path without a slash at its end.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Returns the folder's own name, also of `.`.
  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::string path_of(std::string_view below) const;

 private:
  std::string path_;
};

/// The folder and name of a single file.
struct FileOperand {
  std::string folder;
  std::string name;
};

/// Splits the path of what is not a folder. Nullopt for a path that does not exist; on a remote store, for one without
/// the name of a checkpoint file.
[[nodiscard]] std::optional<FileOperand> file_operand(const std::string& path);

/// @throws InvalidArgument if no layout has that name, unless it is empty.
void require_layout(const std::string& name);

/// Returns the path of the local trial that reads a folder. `kind`: that of the trial in the folder, of which the trial
/// around it reads more; empty: the folder holds no trial.
[[nodiscard]] std::optional<std::string> trial_around(const TrialPath& where, std::string_view kind);

/// Returns `'a', 'b', 'c' and 2 more`.
[[nodiscard]] std::string name_some(std::span<const std::string> names, std::size_t shown);

/// Returns a message such as `holds 12 runs: exp1, exp2 …`, with advice. `at_least`: there may be more.
[[nodiscard]] std::string say_several(const std::string& path, std::span<const std::string> runs, bool at_least);

/// Returns what lies in a folder: `(it holds 'a', 'b')`, and what the nearest files are whose first bytes tell.
[[nodiscard]] std::string what_lies_in(storage::Storage& storage);

/// Returns a message that says of a folder without any trial what it holds instead. `walk`: one that found none.
/// `only`: the only layout that counts; empty: all.
[[nodiscard]] std::string explain_folder(const TrialPath& where, layout::FolderWalk& walk, std::string_view only);

/// Returns the folder of the local trial that reads a file.
[[nodiscard]] std::optional<std::string> trial_with_file(const TrialPath& where, const FileOperand& file);

/// Returns what a file is that is no trial: a clause that leaves out its path. `first`: its first bytes.
[[nodiscard]] std::string explain_file(const TrialPath& where, const layout::Opening& file, const std::string& folder,
                                       const std::optional<std::vector<std::byte>>& first);

}  // namespace smd::detail::trial
