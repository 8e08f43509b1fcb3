// SPDX-License-Identifier: Apache-2.0
#include "follow/side_by_side.hpp"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace smd::tool {

void side_by_side(std::size_t count, Interruption& interruption, const std::function<void(std::size_t)>& visit) {
  if (count == 1) {
    visit(0);
    return;
  }
  std::mutex mutex;
  std::exception_ptr failure;
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    failure = failure ? failure : std::current_exception();
    interruption.stop();
  };
  {
    std::vector<std::jthread> threads;
    threads.reserve(count);
    try {
      for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
          try {
            visit(i);
          } catch (...) {
            fail();
          }
        });
      }
    } catch (...) {
      fail();
    }
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace smd::tool
