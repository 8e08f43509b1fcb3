// SPDX-License-Identifier: Apache-2.0
#include "support/sha256.hpp"

#include <fmt/format.h>

#include <string_view>

#include "report/sha256.hpp"

namespace smd::test {

std::string sha256(std::span<const std::byte> bytes) {
  std::string digits;
  for (const char byte : tool::report::sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()})) {
    digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return digits;
}

}  // namespace smd::test
