// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

namespace smd::detail::layout {

/// `Layout::load` of a debugger trial: index files, several at once.
LoadedSteps load_steps(storage::Storage& storage, const Listing& listing, std::span<const StepFile> files,
                       unsigned jobs, const ReadProgress& progress);

}  // namespace smd::detail::layout
