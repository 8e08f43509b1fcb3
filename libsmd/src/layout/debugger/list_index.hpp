// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/debugger/listing.hpp"

namespace smd::detail::layout {

/// Lists what stands below `index/`, by names and folders' stamps alone. `before` is an earlier listing of the same
/// trial, whose ids and files are kept, or null. Folders that have not changed since then are not listed again; with
/// `since`, a remote store is asked for that step and later ones only. At most `jobs` threads list folders.
Outcome<DebuggerListing> list_index(storage::Storage& storage, const DebuggerListing* before,
                                    std::optional<std::int64_t> since, std::chrono::steady_clock::time_point now,
                                    unsigned jobs);

}  // namespace smd::detail::layout
