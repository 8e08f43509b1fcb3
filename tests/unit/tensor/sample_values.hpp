// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/tensor_view.hpp>

#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::tool::tensor {

template <class Number>
[[nodiscard]] TensorValue value_of(Dtype dtype, Shape shape, const std::vector<Number>& numbers) {
  const std::size_t size = numbers.size() * sizeof(Number);
  std::shared_ptr<std::byte[]> bytes = std::make_shared<std::byte[]>(size);
  if (size != 0) {
    std::memcpy(bytes.get(), numbers.data(), size);
  }
  return {dtype, std::move(shape), std::move(bytes), size};
}

[[nodiscard]] inline TensorValue strings_value(Shape shape, const std::vector<std::string_view>& texts) {
  std::vector<char> packed;
  for (const std::string_view text : texts) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
      packed.push_back(static_cast<char>(text.size() >> shift & 0xFF));
    }
    packed.insert(packed.end(), text.begin(), text.end());
  }
  return value_of(Dtype::string, std::move(shape), packed);
}

}  // namespace smd::tool::tensor
