// SPDX-License-Identifier: Apache-2.0
#include "base/map_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace smd::detail {

void map_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  constexpr std::uintptr_t worth_a_call = 4;  // pages
  const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(memory) & (page - 1);
  const std::uintptr_t length = (before + bytes + page - 1) & ~(page - 1);
  if (length >= worth_a_call * page) {
    (void)::madvise(static_cast<std::byte*>(memory) - before, length, MADV_POPULATE_WRITE);
  }
#endif
}

}  // namespace smd::detail
