// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace smd::test {

/// Returns the SHA-256 digest of bytes (FIPS 180-4, section 6.2), in hexadecimal digits, as recorded results state it.
[[nodiscard]] std::string sha256(std::span<const std::byte> bytes);

}  // namespace smd::test
