// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "wire/event.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace smd::detail::wire {

/// Field numbers of TensorProto.
namespace tensor_field {
inline constexpr std::uint32_t dtype = 1, shape = 2, content = 4, float_val = 5, double_val = 6, int_val = 7,
                               string_val = 8, scomplex_val = 9, int64_val = 10, bool_val = 11, dcomplex_val = 12,
                               half_val = 13, uint32_val = 16, uint64_val = 17, count = 18;
}

/// What stands in the pieces of one TensorProto, which may be split (protobuf merges messages that occur repeatedly).
struct TensorParts {
  std::uint64_t dtype = 0;
  bool has_shape = false;
  bool unknown_rank = false;
  bool too_many_dimensions = false;
  Shape shape;
  std::optional<std::span<const std::byte>> content;
  std::array<std::uint64_t, tensor_field::count> values{};  ///< Of each `*_val` field, how many; complex: of numbers.
};

/// @throws protozero::exception
TensorParts scan_tensor(std::span<const std::span<const std::byte>> pieces);

/// Type, shape and elements, checked against each other. Problems leave the tensor's name to the caller. With
/// `outlined`, that many bytes of content are taken to stand somewhere else, and `bytes` stays empty.
/// @throws protozero::exception, std::bad_alloc
Outcome<Value> decode_tensor(TensorParts&& parts, std::span<const std::span<const std::byte>> pieces,
                             std::optional<std::uint64_t> outlined);

}  // namespace smd::detail::wire
