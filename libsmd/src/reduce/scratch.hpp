// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"

#include <cstddef>
#include <utility>

namespace smd::detail::reduce {

/// Memory that is taken and given back for every tensor. Each thread keeps some for the next time: malloc returns large
/// pieces to the system, and paging them in anew costs more than what is done with them.
class Scratch {
 public:
  Scratch() noexcept = default;
  /// At least `bytes`, aligned for every type, not initialised.
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
