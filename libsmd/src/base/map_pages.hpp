// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace smd::detail {

/// Has the kernel provide the pages of memory that is about to be written, in one call. Without it, the first access to
/// each page costs an exception, and on virtual machines several times what it takes to clear the page. Does not change
/// the memory, and only saves time: if the system cannot do it, the pages come one by one.
void map_pages(const void* memory, std::size_t bytes) noexcept;

}  // namespace smd::detail
