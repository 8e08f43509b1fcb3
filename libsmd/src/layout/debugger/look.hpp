// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/debugger/listing.hpp"

namespace smd::detail::layout {

/// `Layout::look` for a debugger trial: lists its index files, and reads those in range that are new.
Outcome<Found> look_at_trial(storage::Storage& storage, const LookRequest& request, const DebuggerListing* before,
                             std::shared_ptr<const CollectionsInfo> collections);

}  // namespace smd::detail::layout
