// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smd::detail {

/// Has the kernel provide the pages of memory that is about to be written, in one call. Without it, the first access to
/// each page costs an exception, and on virtual machines several times what it takes to clear the page. Does not change
/// the memory, and only saves time: if the system cannot do it, the pages come one by one.
inline void map_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
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

/// The same for all that a vector has reserved.
template <class T>
void map_pages(std::vector<T>& reserved) noexcept {
  map_pages(static_cast<void*>(reserved.data()), std::span(reserved.data(), reserved.capacity()).size_bytes());
}

}  // namespace smd::detail
