// SPDX-License-Identifier: Apache-2.0
#include <smd/tensor_view.hpp>

#include "text/mapped.hpp"
#include "text/words.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <limits>

namespace smd {

std::optional<std::uint64_t> element_count(const Shape& shape) noexcept {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t count = 1;  // sizes of 0 left out
  for (const std::int64_t dim : shape) {
    const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(dim, 1));
    if (dim < 0 || count > most / size) {
      return {};  // even if a size is 0, because strides could not be computed
    }
    count *= size;
  }
  return detail::contains(shape, std::int64_t{0}) ? 0 : count;
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
    const std::size_t length = boost::endian::load_little_u32(reinterpret_cast<const unsigned char*>(rest.data()));
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
