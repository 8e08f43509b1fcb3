// SPDX-License-Identifier: Apache-2.0
#include <smd/shape.hpp>
#include <smd/tensor_view.hpp>

#include "text/words.hpp"

#include <limits>

namespace smd {

std::optional<std::uint64_t> element_count(const Shape& shape) noexcept {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t count = 1;
  bool zero = false;
  bool fits = true;
  for (const std::int64_t dim : shape) {
    if (dim < 0) {
      return {};
    }
    const auto size = static_cast<std::uint64_t>(dim);
    if (size == 0) {
      zero = true;
    } else if (count > most / size) {
      fits = false;
    } else {
      count *= size;
    }
  }
  if (!fits) {
    return {};  // even if a size is 0, because strides could not be computed
  }
  return zero ? 0 : count;
}

std::vector<std::int64_t> whole_strides(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size(), 0);
  std::int64_t stride = element_count(shape).value_or(0) == 0 ? 0 : 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

std::string to_string(const Shape& shape) {
  return shape.empty() ? "scalar" : text::joined(shape, "x", [](std::int64_t size) { return std::to_string(size); });
}

std::vector<std::string_view> strings(const TensorView& view) {
  std::vector<std::string_view> found;
  if (view.dtype() != Dtype::string) {
    return found;
  }
  std::span<const std::byte> rest = view.bytes();
  while (rest.size() >= 4) {
    std::size_t length = 0;
    for (std::size_t at = 0; at < 4; ++at) {
      length |= std::to_integer<std::size_t>(rest[at]) << (8 * at);
    }
    rest = rest.subspan(4);
    if (length > rest.size()) {
      break;  // not valid for a view of strings; return what is there
    }
    found.emplace_back(reinterpret_cast<const char*>(rest.data()), length);
    rest = rest.subspan(length);
  }
  return found;
}

}  // namespace smd
