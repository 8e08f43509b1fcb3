// SPDX-License-Identifier: Apache-2.0
#include <smd/tensor_view.hpp>

namespace smd {

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
