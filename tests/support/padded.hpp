// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"

#include <string>

namespace smd::test {

/// Returns a text after which `Buffer::padding` more bytes may be read.
inline std::string padded(std::string text) {
  text.reserve(text.size() + detail::Buffer::padding);
  return text;
}

}  // namespace smd::test
