// SPDX-License-Identifier: Apache-2.0
#include "value_sink.hpp"

#include "cli/errors.hpp"

#include <algorithm>
#include <cstring>

namespace smd::tool::reduce {

bool ViewSink::begin(Dtype dtype, const Shape& shape) {
  dtype_ = dtype;
  shape_ = shape;
  got_ = 0;
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
      StridedLayout part = ascending(slice_->apply(shape));
      part_shape_ = part.shape;
      part_bytes_ = static_cast<std::size_t>(element_count(part.shape).value_or(0)) * item_size(dtype);
      left_.emplace(std::move(part));
      taken_ = 0;
      any_ = false;
    } catch (const InvalidValue& error) {
      slice_error_ = error.what();
      return false;
    }
  }
  if (expected_ == 0) {
    take(TensorView(dtype_, slice_ != nullptr ? part_shape_ : shape_, {}), true);
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
  take_part(bytes);
  return true;
}

bool ViewSink::repeat(std::span<const std::byte> element, std::uint64_t count) {
  return (slice_ == nullptr && take_repeated(element, count)) || BlockSink::repeat(element, count);
}

bool ViewSink::take_repeated(std::span<const std::byte> /*element*/, std::uint64_t /*count*/) { return false; }

void ViewSink::take_part(std::span<const std::byte> bytes) {
  const std::size_t item = item_size(dtype_);
  const std::size_t begin = got_ / item;
  got_ += bytes.size();
  const std::size_t end = got_ / item;
  gathered_.resize(std::max(gathered_.size(), std::min(bytes.size(), part_bytes_)));
  std::size_t size = 0;
  while (!left_->done()) {
    const std::size_t first = static_cast<std::size_t>(left_->first()) + taken_;
    if (first >= end) {
      break;
    }
    const std::size_t rest = static_cast<std::size_t>(left_->count()) - taken_;
    const std::size_t count = std::min(rest, end - first);
    std::memcpy(gathered_.data() + size, bytes.data() + (first - begin) * item, count * item);
    size += count * item;
    taken_ += count;
    if (count == rest) {
      left_->next();
      taken_ = 0;
    }
  }
  const std::span<const std::byte> part(gathered_.data(), size);
  const auto count = static_cast<std::int64_t>(size / item);
  // A part without elements is taken too, but only once all has been read.
  if (left_->done() && !any_ && got_ == expected_) {
    take(TensorView(dtype_, part_shape_, part), true);
  } else if (count != 0) {
    take(TensorView(dtype_, {&count, 1}, part), false);
    any_ = true;
  }
}

}  // namespace smd::tool::reduce
