// SPDX-License-Identifier: Apache-2.0
#include "exit_status.hpp"

namespace smd::tool {

namespace {

// CLI.md, section 4: 2, 3, 4, 1, 5, 0; a time-out stands unless one of 2 to 4 applies. A step that was skipped (1)
// says more than the end of the job (6).
int weight(ExitStatus status) noexcept {
  switch (status) {
    case ExitStatus::usage:
      return 7;
    case ExitStatus::unreadable:
      return 6;
    case ExitStatus::damaged:
      return 5;
    case ExitStatus::timed_out:
      return 4;
    case ExitStatus::no:
      return 3;
    case ExitStatus::no_more_data:
      return 2;
    case ExitStatus::nothing_evaluated:
      return 1;
    case ExitStatus::yes:
      break;
  }
  return 0;
}

}  // namespace

ExitStatus combine(ExitStatus a, ExitStatus b) noexcept { return weight(a) >= weight(b) ? a : b; }

}  // namespace smd::tool
