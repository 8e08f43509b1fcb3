// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/debugger/look.hpp"

namespace smd::detail::layout {

/// A folder of index files that its listing left open.
struct OpenFolder {
  std::uint32_t id = no_id;                 ///< In `DebuggerListing::folders`.
  std::unique_ptr<storage::Folder> folder;  ///< Null: there is none.
};

/// Lists the files below `index/`, by names and folders' stamps alone. `before` is an earlier listing of the same
/// trial, whose ids and files are kept, or null. Folders that have not changed since then are not listed again. With
/// `since`, only that step and later ones are listed in a remote store. At most `jobs` threads list folders. Sets
/// `open` to the last folder if it is the only one on its level.
Outcome<DebuggerListing> list_index(storage::Storage& storage, const DebuggerListing* before,
                                    std::optional<std::int64_t> since, std::chrono::steady_clock::time_point now,
                                    unsigned jobs, OpenFolder& open);

}  // namespace smd::detail::layout
