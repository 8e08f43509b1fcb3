// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

namespace smd::detail::layout {

/// `Layout::list` of a debugger trial: what stands below `index/`, by names and folders' stamps alone.
Outcome<Listing> list_index(storage::Storage& storage, const Listing* before, std::optional<std::int64_t> since,
                            std::chrono::steady_clock::time_point now, unsigned jobs);

}  // namespace smd::detail::layout
