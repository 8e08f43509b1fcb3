// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace smd::detail {

/// Has the kernel provide the pages of memory that is about to be written, in one call. Without it, the first access to
/// each page costs an exception, and on virtual machines several times what it takes to clear the page. Does not change
/// the memory, and only saves time: if the system cannot do it, the pages come one by one.
void map_pages(void* memory, std::size_t bytes) noexcept;

/// The same for all that a vector has reserved.
template <class T>
void map_pages(std::vector<T>& reserved) noexcept {
  map_pages(static_cast<void*>(reserved.data()), std::span(reserved.data(), reserved.capacity()).size_bytes());
}

}  // namespace smd::detail
