// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>
#include <smd/export.hpp>
#include <smd/shape.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace smd {

/// The borrowed elements of one tensor value: type, shape and bytes.
///
/// Elements are in C order (last axis fastest), little-endian, without gaps. They need not be aligned, so load numbers
/// with `std::memcpy`. Booleans are one byte, 0 or 1. For a string tensor the bytes are, for each element, its length
/// (4 bytes, little-endian) followed by its bytes.
///
/// Owns nothing: the source of the view determines how long bytes and shape stay valid. Copying is cheap.
class TensorView {
 public:
  TensorView() = default;
  TensorView(Dtype dtype, std::span<const std::int64_t> shape, std::span<const std::byte> bytes) noexcept
      : dtype_(dtype), shape_(shape), bytes_(bytes) {}

  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  [[nodiscard]] std::span<const std::int64_t> shape() const noexcept { return shape_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// Returns the number of elements; 1 for a scalar.
  [[nodiscard]] std::uint64_t size() const noexcept {
    std::uint64_t count = 1;
    for (const std::int64_t dim : shape_) {
      count *= static_cast<std::uint64_t>(dim);
    }
    return count;
  }

 private:
  Dtype dtype_ = Dtype::float32;
  std::span<const std::int64_t> shape_;
  std::span<const std::byte> bytes_;
};

/// One tensor value that owns its elements. Movable; a copy shares the (immutable) elements. Safe to read from many
/// threads at once.
class TensorValue {
 public:
  TensorValue() = default;
  /// Takes `bytes` in the layout that `TensorView` describes. Precondition: they match `dtype` and `shape`.
  TensorValue(Dtype dtype, Shape shape, std::shared_ptr<const std::byte[]> bytes, std::size_t size) noexcept
      : dtype_(dtype), shape_(std::move(shape)), bytes_(std::move(bytes)), size_(size) {}

  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_.get(), size_}; }

  /// Valid as long as this value lives and is not assigned to. Does not compile for a temporary.
  [[nodiscard]] TensorView view() const& noexcept { return {dtype_, shape_, bytes()}; }
  TensorView view() const&& = delete;

  /// Returns the only element, for instance of a reduction or a loss, as the nearest double.
  /// @throws InvalidArgument if there is not exactly one element, or if it is text or complex.
  [[nodiscard]] SMD_EXPORT double item() const;

 private:
  Dtype dtype_ = Dtype::float32;
  Shape shape_;
  std::shared_ptr<const std::byte[]> bytes_;
  std::size_t size_ = 0;
};

/// Returns the strings of a view of type `string`, which borrow its bytes; empty for other types. UTF-8 is not checked.
[[nodiscard]] SMD_EXPORT std::vector<std::string_view> strings(const TensorView& view);

}  // namespace smd
