// SPDX-License-Identifier: Apache-2.0
#include "draw/base64.hpp"

#include <cstddef>
#include <cstdint>

namespace smd::tool {

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t three = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      three = three << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += at + i <= bytes.size() ? digits[(three >> (18 - 6 * i)) & 63u] : '=';
    }
  }
  return out;
}

}  // namespace smd::tool
