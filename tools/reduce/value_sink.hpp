// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <vector>

#include "select/slice.hpp"

namespace smd::tool::reduce {

/// Passes the elements of one record on as views: whole if the record is short, else block by block. The elements of a
/// slice come in the order of the record, on which no reduction depends. One record after another.
class ViewSink : public BlockSink {
 public:
  explicit ViewSink(const SliceSpec* slice) : slice_(slice) {}

  bool begin(Dtype dtype, const Shape& shape) final;
  bool block(std::span<const std::byte> bytes) final;
  bool repeat(std::span<const std::byte> element, std::uint64_t count) final;

  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  /// Why the slice does not fit the record.
  [[nodiscard]] const std::string& slice_error() const noexcept { return slice_error_; }

 protected:
  /// Called before any view of a record, and again if a failed read is repeated: views before it do not count. Return
  /// false to refuse the type.
  virtual bool start(Dtype dtype) = 0;
  /// `whole`: there is no other view of this record.
  virtual void take(const TensorView& view, bool whole) = 0;
  /// Receives, after a view, `count` equal elements. Returns false to get them as views.
  virtual bool take_repeated(std::span<const std::byte> element, std::uint64_t count);

 private:
  void take_part(std::span<const std::byte> bytes);

  const SliceSpec* slice_;
  Dtype dtype_ = Dtype::float32;
  Shape shape_;
  std::size_t expected_ = 0;
  std::size_t got_ = 0;
  std::optional<PartRuns> left_;  // of the slice
  std::size_t taken_ = 0;         // elements taken of its first run
  Shape part_shape_;
  std::size_t part_bytes_ = 0;
  bool any_ = false;  // some of it was passed on
  std::vector<std::byte> gathered_;
  std::string slice_error_;
};

}  // namespace smd::tool::reduce
