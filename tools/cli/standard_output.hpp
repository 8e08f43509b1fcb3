// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace smd::tool {

/// Whether bytes for standard output were lost where nobody could be told at the time.
[[nodiscard]] bool standard_output_failed() noexcept;

}  // namespace smd::tool
