// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/debugger/list_index.hpp"

namespace smd::detail::layout {

/// Reads index files, several at once. `progress` may be null or empty. `open`: a folder that need not be opened.
LoadedSteps load_steps(storage::Storage& storage, const DebuggerListing& listing, std::span<const StepPart> files,
                       unsigned jobs, const LookRequest* look, const OpenFolder& open);

}  // namespace smd::detail::layout
