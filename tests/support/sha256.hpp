// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace smd::test {

/// Returns the SHA-256 (FIPS 180-4) of some bytes, as 64 lower-case hexadecimal digits, for comparison with recorded
/// digests.
[[nodiscard]] std::string sha256(std::span<const std::byte> bytes);

}  // namespace smd::test
