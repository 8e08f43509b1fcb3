// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::tool {

/// Bytes as base64 (RFC 4648, section 4), padded.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace smd::tool
