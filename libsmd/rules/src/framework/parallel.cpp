// SPDX-License-Identifier: Apache-2.0
#include "framework/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace smd::detail::rules {

unsigned usable_cpus() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
  }
  return std::max(std::thread::hardware_concurrency(), 1U);  // the machine has more CPUs than the set holds
}

void parallel_for_each(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto body = [&]() noexcept {
    try {
      for (std::size_t i = next++; i < count; i = next++) {
        work(i);
      }
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!error) {
        error = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    try {
      for (std::size_t i = 1; i < std::min<std::size_t>(threads, count); ++i) {
        helpers.emplace_back(body);
      }
    } catch (const std::system_error&) {  // the limit of threads is reached; goes on with fewer
    } catch (const std::bad_alloc&) {
    }
    body();
  }
  if (error) {
    std::rethrow_exception(error);
  }
}

}  // namespace smd::detail::rules
