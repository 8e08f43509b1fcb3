// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

/// Walking over protobuf messages: protozero, and what it leaves out. Damage is thrown here, and caught where `wire`
/// ends (`parse_value`, `parse_outline`).
namespace smd::detail::wire {

/// A field has another wire type than its message's schema says.
struct WrongWireType : protozero::exception {
  [[nodiscard]] const char* what() const noexcept override { return "field has the wrong wire type"; }
};
/// A group does not end, ends another group, or lies too deep.
struct BadGroup : protozero::exception {
  [[nodiscard]] const char* what() const noexcept override { return "group does not end, or lies too deep"; }
};

/// `next_field` for keys of any kind.
bool next_field_of_any(protozero::pbf_reader& reader);

/// Goes to the next field, past groups (which protozero does not know), at most `limits::protobuf_depth` deep.
/// @throws protozero::exception
inline bool next_field(protozero::pbf_reader& reader) {
  const protozero::data_view rest = reader.data();
  // A key of one byte, whose low bits say that no group starts: as good as always.
  const auto key = rest.empty() ? 0xFFU : static_cast<unsigned char>(*rest.data());
  return key < 0x80 && (key & 7U) != 3 ? reader.next() : next_field_of_any(reader);
}

/// The bytes or the message that the current field holds. @throws WrongWireType
inline protozero::data_view view_of(protozero::pbf_reader& reader) {
  if (reader.wire_type() != protozero::pbf_wire_type::length_delimited) {
    throw WrongWireType{};
  }
  return reader.get_view();
}
inline protozero::pbf_reader message_of(protozero::pbf_reader& reader) {
  return protozero::pbf_reader{view_of(reader)};
}
inline std::span<const std::byte> bytes_of(protozero::pbf_reader& reader) {
  const protozero::data_view view = view_of(reader);
  return std::as_bytes(std::span(view.data(), view.size()));
}

/// The number that the current field holds as a varint. @throws WrongWireType
inline std::uint64_t varint_of(protozero::pbf_reader& reader) {
  if (reader.wire_type() != protozero::pbf_wire_type::varint) {
    throw WrongWireType{};
  }
  return reader.get_uint64();
}

}  // namespace smd::detail::wire
