// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// Decodes elements that are in the `*_val` fields of a TensorProto instead of in `tensor_content`.
namespace smd::detail::wire {

/// Returns the field that holds values of a type; 0 for types that event files do not hold.
[[nodiscard]] std::uint32_t value_field(Dtype dtype);

/// Returns the field's name, such as `float_val`.
[[nodiscard]] std::string_view value_field_name(std::uint32_t field) noexcept;

/// Returns how many numbers (for strings: elements) one occurrence of a value field holds; `bytes` is its payload if
/// it is packed.
/// @throws protozero::exception if that is not a whole number.
[[nodiscard]] std::uint64_t count_packed(std::uint32_t field, std::span<const std::byte> bytes);

/// Writes all values in the `*_val` field `field` of `pieces` to `into`, which has room for exactly as many as
/// `scan_tensor` counted. Returns the first number that the type cannot represent; nullopt if there is none.
/// @throws protozero::exception
std::optional<std::int64_t> decode_values(Dtype dtype, std::uint32_t field,
                                          std::span<const std::span<const std::byte>> pieces,
                                          std::span<std::byte> into);

/// Returns true if `half_val` holds anything wider than 16 bits. PyTorch stores the bits of a float32 there for each
/// element. [torch/utils/tensorboard/summary.py]
/// @throws protozero::exception
[[nodiscard]] bool has_wide_halves(std::span<const std::span<const std::byte>> pieces);

/// Writes the elements of a wide `half_val` as float16 or bfloat16. @throws protozero::exception
void decode_wide_halves(Dtype dtype, std::span<const std::span<const std::byte>> pieces, std::span<std::byte> into);

/// Returns the size of all strings in packed form, each preceded by its length in four bytes.
[[nodiscard]] std::uint64_t packed_string_bytes(std::span<const std::span<const std::byte>> pieces);

/// Returns the size of the last string in packed form; without strings, the size of an empty one.
[[nodiscard]] std::uint64_t last_string_bytes(std::span<const std::span<const std::byte>> pieces);

/// Writes all strings in packed form.
void pack_strings(std::span<const std::span<const std::byte>> pieces, std::span<std::byte> into);

}  // namespace smd::detail::wire
