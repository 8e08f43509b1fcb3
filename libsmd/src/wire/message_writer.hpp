// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/little_endian.hpp"

#include <protozero/buffer_string.hpp>
#include <protozero/varint.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

/// Appends protobuf fields to a string. Every field number here is below 16, so a key is one byte.
namespace smd::detail::wire {

enum WireType : std::uint32_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

inline void append_varint(std::string& out, std::uint64_t value) { protozero::add_varint_to_buffer(&out, value); }

inline void append_key(std::string& out, std::uint32_t field, WireType type) {
  out.push_back(static_cast<char>(field << 3 | type));
}

inline void append_length(std::string& out, std::uint32_t field, std::size_t bytes) {
  append_key(out, field, length_delimited);
  append_varint(out, bytes);
}

inline void append_text(std::string& out, std::uint32_t field, std::string_view text) {
  append_length(out, field, text.size());
  out.append(text);
}

/// Returns the size of what `append_length` writes, plus that many bytes.
inline std::size_t field_bytes(std::size_t bytes) noexcept {
  return 1 + static_cast<std::size_t>(protozero::length_of_varint(bytes)) + bytes;
}

template <class Bits>
void append_bits(std::string& out, Bits number) {
  std::array<std::byte, sizeof(Bits)> bytes{};
  store_little(bytes.data(), number);
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

inline void append_double(std::string& out, std::uint32_t field, double number) {
  append_key(out, field, fixed64);
  append_bits(out, std::bit_cast<std::uint64_t>(number));
}

inline void append_float(std::string& out, std::uint32_t field, float number) {
  append_key(out, field, fixed32);
  append_bits(out, std::bit_cast<std::uint32_t>(number));
}

}  // namespace smd::detail::wire
