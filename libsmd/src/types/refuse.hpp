// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>

namespace smd::detail {

/// Refuses what a caller asks for. @throws InvalidArgument.
inline void refuse_if(bool wrong, const char* why) {
  if (wrong) {
    throw InvalidArgument(why);
  }
}

}  // namespace smd::detail
