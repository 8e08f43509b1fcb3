// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/dtype.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

/// Elements that stand in the `*_val` fields of a TensorProto instead of in `tensor_content`.
namespace smd::detail::wire {

/// The field in which values of a type stand.
[[nodiscard]] std::uint32_t value_field(Dtype dtype) noexcept;

/// `float_val`, ….
[[nodiscard]] std::string_view value_field_name(std::uint32_t field) noexcept;

/// How many numbers (strings: elements) one occurrence of a value field holds; its payload is `bytes` if it is packed.
/// @throws protozero::exception if that is no whole number of them.
[[nodiscard]] std::uint64_t count_packed(std::uint32_t field, std::span<const std::byte> bytes);

/// Writes all values of `pieces` to `into`, which has room for exactly as many as `scan_tensor` counted. Returns the
/// first number that the type cannot hold, if there is one.
/// @throws protozero::exception
std::optional<std::int64_t> decode_values(Dtype dtype, std::span<const std::span<const std::byte>> pieces,
                                          std::span<std::byte> into);

/// Bytes of all strings in packed form, each after its length of four bytes.
[[nodiscard]] std::uint64_t packed_string_bytes(std::span<const std::span<const std::byte>> pieces);

/// Writes them.
void pack_strings(std::span<const std::span<const std::byte>> pieces, std::span<std::byte> into);

}  // namespace smd::detail::wire
