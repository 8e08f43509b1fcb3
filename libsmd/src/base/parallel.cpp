// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.hpp"

#include <sched.h>

namespace smd::detail {

unsigned default_jobs() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
  }
  return std::max(std::thread::hardware_concurrency(), 1u);  // the set is too small for this machine's CPUs
}

}  // namespace smd::detail
