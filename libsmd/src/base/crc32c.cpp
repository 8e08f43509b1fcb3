// SPDX-License-Identifier: Apache-2.0
#include "base/crc32c.hpp"

#include "base/crc32c_kernels.hpp"

#include <atomic>

namespace smd::detail {
namespace {

std::uint32_t choose_and_run(std::uint32_t state, const unsigned char* data, std::size_t size) noexcept;

// Threads that race here all store the same value; nothing is computed before main.
constinit std::atomic<Crc32cKernel::Function> kernel{choose_and_run};

std::uint32_t choose_and_run(std::uint32_t state, const unsigned char* data, std::size_t size) noexcept {
  Crc32cKernel::Function best = crc32c_kernels().front().function;
  for (const Crc32cKernel& candidate : crc32c_kernels()) {
    if (candidate.supported()) {
      best = candidate.function;
    }
  }
  kernel.store(best, std::memory_order_relaxed);
  return best(state, data, size);
}

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous) noexcept {
  const auto run = kernel.load(std::memory_order_relaxed);
  return ~run(~previous, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

}  // namespace smd::detail
