// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

namespace smd::detail::layout {

/// The union of all workers' collections. `before` is what was read earlier, or null; given back if there are no other
/// files, none was replaced, and nothing was wrong. Of a remote store, once all workers have theirs: there each is
/// written once.
std::shared_ptr<const CollectionsInfo> read_collections(storage::Storage& storage,
                                                        std::shared_ptr<const CollectionsInfo> before);

}  // namespace smd::detail::layout
