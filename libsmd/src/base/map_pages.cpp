// SPDX-License-Identifier: Apache-2.0
#include "base/map_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace smd::detail {

void map_pages([[maybe_unused]] const void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::uintptr_t worth_a_call = 4;  // pages
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(memory) & ~(page - 1);
  const std::uintptr_t end = (reinterpret_cast<std::uintptr_t>(memory) + bytes + page - 1) & ~(page - 1);
  if (end - first >= worth_a_call * page) {
    (void)::madvise(reinterpret_cast<void*>(first), end - first, MADV_POPULATE_WRITE);
  }
#endif
}

}  // namespace smd::detail
