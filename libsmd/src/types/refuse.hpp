// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>

#include <string>
#include <string_view>

namespace smd::detail {

/// Refuses what a caller asks for. @throws InvalidArgument.
inline void refuse_if(bool wrong, std::string_view why) {
  if (wrong) {
    throw InvalidArgument(std::string(why));
  }
}

}  // namespace smd::detail
