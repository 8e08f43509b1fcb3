// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/checkpoints/checkpoint_listing.hpp"
#include "layout/layout.hpp"
#include "storage/storage.hpp"

#include <memory>
#include <string_view>

namespace smd::detail::layout {

/// The place to look at.
struct CheckpointPlace {
  std::string_view name;  ///< Of the place; may have a step.
  std::string_view file;  ///< The only file that counts; empty: all files of the place.
};

/// `Layout::look` for a checkpoint folder: lists it, and reads the headers of files that are new or have changed.
Outcome<Found> look_at_checkpoints(storage::Storage& storage, const LookRequest& request, const CheckpointPlace& place,
                                   const CheckpointListing* before, std::shared_ptr<const CollectionsInfo> collections);

}  // namespace smd::detail::layout
