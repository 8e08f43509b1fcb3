// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace smd::detail {

/// Raw memory for reading into: never initialised, grown by need, reused. After the bytes asked for there are always
/// `padding` more, so that simdjson may read past the end.
class Buffer {
 public:
  static constexpr std::size_t padding = 64;

  /// At least `size` writable bytes; what was there before is lost if it had to grow. Null if memory ran out.
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
  [[nodiscard]] std::byte* data() noexcept { return data_.get(); }
  /// Bytes that can be used without growing, padding not counted.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t capacity_ = 0;
};

}  // namespace smd::detail
