// SPDX-License-Identifier: Apache-2.0
#include "cli/stack_limit.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <cstddef>

namespace smd::tool {

bool provide_stack() noexcept {
  constexpr std::size_t least = std::size_t{least_stack_kib} * 1024;
  rlimit limit = {};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= least) {
    return true;
  }
  limit.rlim_cur = least;
  if (setrlimit(RLIMIT_STACK, &limit) != 0) {  // above the hard limit
    return false;
  }
  // New threads would still get the limit that held when the program began.
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) {
    return false;
  }
  const bool set = pthread_attr_setstacksize(&attributes, least) == 0 && pthread_setattr_default_np(&attributes) == 0;
  pthread_attr_destroy(&attributes);
  return set;
}

}  // namespace smd::tool
