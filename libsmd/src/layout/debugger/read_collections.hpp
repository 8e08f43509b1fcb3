// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

namespace smd::detail::layout {

/// Returns the union of all workers' collections. `before` is an earlier result, or null; it is returned if it had no
/// problems and no file was added, removed or replaced. On a remote store it is returned once all workers have their
/// collections, because each file is written only once.
std::shared_ptr<const CollectionsInfo> read_collections(storage::Storage& storage,
                                                        std::shared_ptr<const CollectionsInfo> before);

}  // namespace smd::detail::layout
