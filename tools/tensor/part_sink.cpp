// SPDX-License-Identifier: Apache-2.0
#include "part_sink.hpp"

#include "cli/errors.hpp"

#include <algorithm>
#include <cstring>

namespace smd::tool::tensor {

bool PartSink::begin(Dtype dtype, const Shape& shape) {
  dtype_ = dtype;
  misfit_.reset();
  if (has_strings()) {
    return false;
  }
  try {
    const StridedLayout part = slice_.apply(shape);
    shape_ = part.shape;
    from_.emplace(ascending(part));
    to_.emplace(places_of(part), PartRuns::Length::one);
  } catch (const InvalidValue& error) {
    misfit_ = error.what();
    return false;
  }
  size_ = static_cast<std::size_t>(element_count(shape_).value_or(0)) * item_size(dtype);
  part_ = std::make_shared_for_overwrite<std::byte[]>(size_);
  taken_ = 0;
  got_ = 0;
  return true;
}

bool PartSink::block(std::span<const std::byte> bytes) {
  const std::size_t item = item_size(dtype_);
  const std::size_t begin = got_;
  got_ += bytes.size() / item;
  while (!from_->done()) {
    const std::size_t first = static_cast<std::size_t>(from_->first()) + taken_;
    if (first >= got_) {
      break;
    }
    const std::size_t rest = static_cast<std::size_t>(from_->count()) - taken_;
    const std::size_t count = std::min(rest, got_ - first);
    for (std::size_t i = 0; i < count; ++i, to_->next()) {
      std::memcpy(part_.get() + static_cast<std::size_t>(to_->first()) * item,
                  bytes.data() + (first - begin + i) * item, item);
    }
    taken_ += count;
    if (count == rest) {
      from_->next();
      taken_ = 0;
    }
  }
  return true;
}

}  // namespace smd::tool::tensor
