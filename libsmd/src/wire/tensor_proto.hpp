// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "wire/event.hpp"

#include <smd/elements.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace smd::detail::wire {

/// Field numbers of TensorProto.
namespace tensor_field {
inline constexpr std::uint32_t dtype = 1, shape = 2, content = 4, float_val = 5, double_val = 6, int_val = 7,
                               string_val = 8, scomplex_val = 9, int64_val = 10, bool_val = 11, dcomplex_val = 12,
                               half_val = 13, uint32_val = 16, uint64_val = 17, count = 18;
}

/// Returns whether event files may hold the type (docs/format.md). TensorFlow's float8 types have value fields of their
/// own.
[[nodiscard]] inline bool is_in_event_files(Dtype dtype) noexcept { return float8_numbers(dtype) == nullptr; }

/// The contents of a TensorProto.
struct TensorParts {
  std::uint64_t dtype = 0;
  bool has_shape = false;
  bool unknown_rank = false;
  bool too_many_dimensions = false;
  Shape shape;
  std::optional<std::span<const std::byte>> content;
  std::array<std::uint64_t, tensor_field::count> values{};  ///< Number of values in each `*_val` field; for complex
                                                            ///< types, of real numbers.
};

/// Returns whether any field holds elements.
[[nodiscard]] bool has_elements(const TensorParts& parts) noexcept;

/// @throws protozero::exception
TensorParts scan_tensor(std::span<const std::byte> tensor);

/// Decodes type, shape and elements and checks them against each other. The caller adds the tensor's name to problems.
/// With `outlined`, that many bytes of content are assumed to be elsewhere, and `bytes` stays empty. With
/// `ValueKinds::summaries`, a tensor without a shape is a scalar, and elements may be in the fields that PyTorch uses:
/// those of uint8 in `uint32_val`, and float32 in `half_val` (`has_wide_halves`).
/// @throws protozero::exception, std::bad_alloc
Outcome<Value> decode_tensor(TensorParts&& parts, std::span<const std::byte> tensor,
                             std::optional<std::uint64_t> outlined, ValueKinds kinds);

}  // namespace smd::detail::wire
