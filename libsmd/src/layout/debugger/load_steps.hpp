// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/debugger/listing.hpp"

namespace smd::detail::layout {

/// Reads index files, several at once. `progress` may be null or empty.
LoadedSteps load_steps(storage::Storage& storage, const DebuggerListing& listing, std::span<const StepPart> files,
                       unsigned jobs, const ReadProgress* progress);

}  // namespace smd::detail::layout
