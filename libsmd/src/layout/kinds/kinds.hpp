// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/folder_walk.hpp"
#include "layout/layout_kind.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The one table of layouts, and what is asked of all of them. To add a layout, add a row.
namespace smd::detail::layout {

/// Returns the rows, in the order in which a folder is looked at.
[[nodiscard]] std::span<const LayoutKind> kinds() noexcept;

/// Adds a row at the end of the table as long as it lives. For tests: not thread-safe.
class AddedKind {
 public:
  explicit AddedKind(LayoutKind kind);
  AddedKind(const AddedKind&) = delete;
  AddedKind& operator=(const AddedKind&) = delete;
  ~AddedKind();
};

// In all that follows, `only` is the name of the only layout that counts; empty: all do.

/// Returns the contents of the layouts, for messages: `collection files, event files of TensorBoard or checkpoints`.
[[nodiscard]] std::string contents_of_kinds(std::string_view only);

/// What a folder is.
struct Recognised {
  const LayoutKind* kind = nullptr;  ///< Null: it is no trial itself.
  Held held;
  struct Other {
    const LayoutKind* kind = nullptr;
    Held held;
  };
  std::vector<Other> left_out;  ///< Further layouts of which the folder holds data.
};

/// Looks at the walk's current folder.
[[nodiscard]] Recognised recognise(FolderWalk& folder, std::string_view only);

/// Finds the trials at and below the walk's current folder, as paths relative to the walk's place, in byte order; also
/// those in other trials, but not what a trial reads. Ends the walk.
[[nodiscard]] std::vector<std::string> find_trials(FolderWalk& walk, std::string_view only);

}  // namespace smd::detail::layout
