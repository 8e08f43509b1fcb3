// SPDX-License-Identifier: Apache-2.0
#include "wire/message.hpp"

#include "text/limits.hpp"

#include <array>
#include <limits>
#include <string>

namespace smd::detail::wire {
namespace {

constexpr std::uint32_t start_group = 3;
constexpr std::uint32_t end_group = 4;

/// A group does not end, ends another group, or is nested too deeply.
constexpr const char* bad_group = "group does not end, or lies too deep";

/// Returns number and wire type of the next field without reading it.
std::uint32_t peek_key(const protozero::pbf_reader& reader) {
  const protozero::data_view rest = reader.data();
  const char* at = rest.data();
  const std::uint64_t key = protozero::decode_varint(&at, rest.data() + rest.size());
  if (key > std::numeric_limits<std::uint32_t>::max() || (key >> 3) == 0) {
    throw protozero::invalid_tag_exception{};
  }
  return static_cast<std::uint32_t>(key);
}

/// Skips a key that protozero would refuse.
void drop_key(protozero::pbf_reader& reader) {
  const protozero::data_view rest = reader.data();
  const char* at = rest.data();
  const char* const end = at + rest.size();
  protozero::skip_varint(&at, end);
  reader = protozero::pbf_reader{at, static_cast<std::size_t>(end - at)};
}

/// Skips a group and all groups in it. Not recursive, because the file determines the depth.
void skip_group(protozero::pbf_reader& reader) {
  std::array<std::uint32_t, limits::protobuf_depth> open{};
  std::size_t depth = 0;
  do {
    if (reader.data().empty()) {
      throw BadMessage(bad_group);
    }
    const std::uint32_t key = peek_key(reader);
    if ((key & 7) == start_group) {
      if (depth == open.size()) {
        throw BadMessage(bad_group);
      }
      open[depth++] = key >> 3;
      drop_key(reader);
    } else if ((key & 7) == end_group) {
      if (open[depth - 1] != key >> 3) {
        throw BadMessage(bad_group);
      }
      --depth;
      drop_key(reader);
    } else {
      reader.next();
      skip_field(reader);
    }
  } while (depth != 0);
}

}  // namespace

Problem problem_of(const protozero::exception& error) {
  std::string_view what = error.what();
  if (dynamic_cast<const protozero::varint_too_long_exception*>(&error) != nullptr) {
    what = "number of more than ten bytes";
  } else if (dynamic_cast<const protozero::unknown_pbf_wire_type_exception*>(&error) != nullptr) {
    what = "unknown wire type";
  } else if (dynamic_cast<const protozero::end_of_buffer_exception*>(&error) != nullptr) {
    what = "cut off, or a part is longer than what holds it";
  } else if (dynamic_cast<const protozero::invalid_tag_exception*>(&error) != nullptr) {
    what = "field number that none can have";
  } else if (dynamic_cast<const protozero::invalid_length_exception*>(&error) != nullptr) {
    what = "packed numbers do not fill their field";
  }
  return damaged("record's protobuf message: " + std::string(what));
}

bool next_field_of_any(protozero::pbf_reader& reader) {
  while (!reader.data().empty()) {
    const std::uint32_t key = peek_key(reader);
    if ((key & 7) != start_group) {
      return reader.next();
    }
    skip_group(reader);
  }
  return false;
}

const char* read_raw_field(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t end,
                           RawField& field) noexcept try {
  const char* const first = reinterpret_cast<const char*>(bytes.data());
  const char* next = first;
  const auto varint = [&] { return protozero::decode_varint(&next, first + bytes.size()); };
  const auto place = [&] { return at + static_cast<std::uint64_t>(next - first); };
  field.key_at = at;
  field.key = varint();
  field.length_at = place();
  if (field.key > std::numeric_limits<std::uint32_t>::max()) {
    return "a field has an unusual number";
  }
  std::uint64_t length = 0;
  switch (static_cast<protozero::pbf_wire_type>(field.key & 7U)) {
    case protozero::pbf_wire_type::varint:
      (void)varint();
      break;
    case protozero::pbf_wire_type::fixed64:
      length = 8;
      break;
    case protozero::pbf_wire_type::length_delimited:
      length = varint();
      break;
    case protozero::pbf_wire_type::fixed32:
      length = 4;
      break;
    case protozero::pbf_wire_type::unknown:
    default:  // a group, which known writers do not use, or none of protobuf's types
      return "a field has an unusual type";
  }
  field.begin = place();
  if (field.begin > end || length > end - field.begin) {
    return "a field is longer than its message";
  }
  field.end = field.begin + length;
  return nullptr;
} catch (const protozero::exception&) {
  return "a number does not end";
}

}  // namespace smd::detail::wire
