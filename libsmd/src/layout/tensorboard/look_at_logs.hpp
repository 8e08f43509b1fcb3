// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "layout/tensorboard/log_cursor.hpp"
#include "storage/storage.hpp"

#include <memory>

namespace smd::detail::layout {

/// `Layout::look` for a log directory: reads the parts of its event files that no earlier look has read.
Outcome<Found> look_at_logs(storage::Storage& storage, const LookRequest& request, const LogListing* before,
                            std::shared_ptr<const CollectionsInfo> collections);

}  // namespace smd::detail::layout
