// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/checkpoints/checkpoint_listing.hpp"
#include "layout/layout_kind.hpp"
#include "storage/storage.hpp"

#include <memory>

namespace smd::detail::layout {

/// `Layout::look` for a checkpoint folder: lists it, and reads the headers of files that are new or have changed.
Outcome<Found> look_at_checkpoints(storage::Storage& storage, const LookRequest& request, const Opening& place,
                                   const CheckpointListing* before, std::shared_ptr<const CollectionsInfo> collections);

}  // namespace smd::detail::layout
