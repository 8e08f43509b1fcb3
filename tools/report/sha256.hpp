// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::tool::report {

/// The 32 bytes of the SHA-256 digest of a text (FIPS 180-4, section 6.2). For the policy of a page, which names the
/// only style and script that a browser may use by their digests.
[[nodiscard]] std::string sha256(std::string_view text);

}  // namespace smd::tool::report
