// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace smd::tool {

/// Whether bytes for standard output were lost at a place that could not report it.
[[nodiscard]] bool standard_output_failed() noexcept;

}  // namespace smd::tool
