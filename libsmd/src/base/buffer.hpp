// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace smd::detail {

/// Uninitialised memory to read into; grows as needed and is reused. `padding` more bytes always follow the requested
/// ones, so that simdjson may read past the end.
class Buffer {
 public:
  static constexpr std::size_t padding = 64;

  /// Returns at least `size` writable bytes; their previous content is lost if the buffer had to grow. Returns null if
  /// memory ran out.
  [[nodiscard]] std::byte* reserve(std::size_t size) noexcept {
    if (size > capacity_) {
      data_.reset();
      capacity_ = 0;
      data_.reset(new (std::nothrow) std::byte[size + padding]);
      if (data_ == nullptr) {
        return nullptr;
      }
      capacity_ = size;
    }
    return data_.get();
  }
  /// Returns the first `size` bytes, and sets the padding after them to zero: simdjson looks at its first byte.
  /// Precondition: as many were reserved.
  [[nodiscard]] std::span<const std::byte> first(std::size_t size) noexcept {
    std::memset(data_.get() + size, 0, padding);
    return {data_.get(), size};
  }
  [[nodiscard]] std::byte* data() noexcept { return data_.get(); }
  /// Returns the number of bytes that can be used without growing, excluding padding.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t capacity_ = 0;
};

}  // namespace smd::detail
