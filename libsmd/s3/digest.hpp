// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace smd::detail::storage::s3 {

using Digest = std::array<unsigned char, 32>;

[[nodiscard]] Digest sha256(std::string_view text);
[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view text);
/// Returns lower-case hexadecimal digits.
[[nodiscard]] std::string hex(const Digest& digest);
/// Returns the digest's bytes, as a key for the next step.
[[nodiscard]] inline std::string_view bytes_of(const Digest& digest) noexcept {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace smd::detail::storage::s3
