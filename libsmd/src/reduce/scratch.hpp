// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"

#include <cstddef>
#include <utility>

namespace smd::detail::reduce {

/// Temporary memory for processing one tensor. Each thread keeps some of it for reuse: malloc returns large blocks to
/// the system, and paging them in again costs more than the work done in them.
class Scratch {
 public:
  Scratch() noexcept = default;
  /// Takes at least `bytes`, aligned for every type, uninitialised.
  explicit Scratch(std::size_t bytes);
  Scratch(Scratch&& other) noexcept { std::swap(buffer_, other.buffer_); }
  Scratch& operator=(Scratch&& other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch();

  [[nodiscard]] std::byte* data() noexcept { return buffer_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return buffer_.capacity(); }

 private:
  Buffer buffer_;
};

}  // namespace smd::detail::reduce
