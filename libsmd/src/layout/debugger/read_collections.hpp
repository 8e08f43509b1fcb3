// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

namespace smd::detail::layout {

/// `Layout::collections` of a debugger trial: the union of all workers' files.
std::shared_ptr<const CollectionsInfo> read_collections(storage::Storage& storage,
                                                        std::shared_ptr<const CollectionsInfo> before);

}  // namespace smd::detail::layout
