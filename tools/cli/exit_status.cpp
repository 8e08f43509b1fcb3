// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_status.hpp"

#include <algorithm>

namespace smd::tool {

ExitStatus combine(ExitStatus a, ExitStatus b) noexcept {
  return *std::find_if(exit_status_order.begin(), exit_status_order.end(),
                       [&](ExitStatus status) { return status == a || status == b; });
}

}  // namespace smd::tool
