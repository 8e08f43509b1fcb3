// SPDX-License-Identifier: Apache-2.0
#include "value_sink.hpp"

#include "common/errors.hpp"

#include <cstring>

namespace smd::tool::reduce {

bool ViewSink::begin(Dtype dtype, const Shape& shape) {
  dtype_ = dtype;
  shape_ = shape;
  got_ = 0;
  gathered_.reset();
  slice_error_.clear();
  if (!start(dtype)) {
    return false;
  }
  std::uint64_t elements = 1;
  for (const std::int64_t size : shape) {
    elements *= static_cast<std::uint64_t>(size);
  }
  expected_ = static_cast<std::size_t>(elements) * item_size(dtype);
  if (slice_ != nullptr) {
    try {
      (void)slice_->apply(shape);
    } catch (const InvalidValue& error) {
      slice_error_ = error.what();
      return false;
    }
  }
  if (expected_ == 0) {
    take(TensorView(dtype_, shape_, {}), true);
    return false;
  }
  return true;
}

bool ViewSink::block(std::span<const std::byte> bytes) {
  const bool whole = bytes.size() == expected_;
  if (slice_ == nullptr) {
    if (whole) {
      take(TensorView(dtype_, shape_, bytes), true);
    } else {
      const auto count = static_cast<std::int64_t>(bytes.size() / item_size(dtype_));
      take(TensorView(dtype_, {&count, 1}, bytes), false);
    }
    return true;
  }
  if (!gathered_) {
    gathered_ = std::make_shared_for_overwrite<std::byte[]>(expected_);
  }
  const std::size_t size = std::min(bytes.size(), expected_ - got_);
  std::memcpy(gathered_.get() + got_, bytes.data(), size);
  got_ += size;
  if (got_ == expected_) {
    const TensorValue part = smd::tool::take(TensorValue(dtype_, shape_, gathered_, expected_), slice_->apply(shape_));
    gathered_.reset();
    take(part.view(), true);
  }
  return true;
}

}  // namespace smd::tool::reduce
