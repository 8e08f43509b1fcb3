// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <protozero/exception.hpp>
#include <protozero/pbf_reader.hpp>
#include <protozero/varint.hpp>

#include "types/outcome.hpp"

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>

/// Reads protobuf messages with protozero, and adds what it lacks. Damage is thrown as an exception here, and caught at
/// the boundary of `wire` (`guarded`).
namespace smd::detail::wire {

/// Damage that protozero does not look for.
struct BadMessage : protozero::exception {
  explicit BadMessage(const char* why) noexcept : what_(why) {}
  [[nodiscard]] const char* what() const noexcept override { return what_; }

 private:
  const char* what_;
};

/// The general case of `next_field`: keys of any kind.
bool next_field_of_any(protozero::pbf_reader& reader);

/// Advances to the next field. Skips groups (which protozero does not support), at most `limits::protobuf_depth` deep.
/// @throws protozero::exception
inline bool next_field(protozero::pbf_reader& reader) {
  const protozero::data_view rest = reader.data();
  if (rest.empty()) {
    return false;
  }
  // A one-byte key whose low bits do not start a group: the usual case.
  const auto key = static_cast<unsigned char>(*rest.data());
  return key < 0x80 && (key & 7U) != 3 ? reader.next() : next_field_of_any(reader);
}

/// Checks the length at the start of `rest`, of which protozero ignores all but the lower 32 bits.
inline void check_length(protozero::data_view rest) {
  const char* at = rest.data();
  if (protozero::decode_varint(&at, rest.data() + rest.size()) > rest.size()) {
    throw protozero::end_of_buffer_exception{};
  }
}

/// @throws BadMessage if the current field is of another type than in its message's schema.
[[gnu::always_inline]] inline void require_type(const protozero::pbf_reader& reader, protozero::pbf_wire_type type) {
  if (reader.wire_type() != type) {
    throw BadMessage("field has the wrong wire type");
  }
}

// A record has a dozen of the fields that these four read. Left to choose, GCC 12 makes calls of them where a caller
// has many, which costs reductions of small values a thirtieth.

/// Returns the bytes or the message in the current field. @throws BadMessage
[[gnu::always_inline]] inline protozero::data_view view_of(protozero::pbf_reader& reader) {
  require_type(reader, protozero::pbf_wire_type::length_delimited);
  const protozero::data_view rest = reader.data();
  constexpr unsigned char longest_in_one_byte = 127;
  if (rest.size() == 0 || static_cast<unsigned char>(*rest.data()) > longest_in_one_byte) {
    check_length(rest);
  }
  return reader.get_view();
}

/// Skips the current field. Precondition: it is not a group.
inline void skip_field(protozero::pbf_reader& reader) {
  if (reader.wire_type() == protozero::pbf_wire_type::length_delimited) {
    (void)view_of(reader);
  } else {
    reader.skip();
  }
}
[[gnu::always_inline]] inline protozero::pbf_reader message_of(protozero::pbf_reader& reader) {
  return protozero::pbf_reader{view_of(reader)};
}
[[gnu::always_inline]] inline std::span<const std::byte> bytes_of(protozero::pbf_reader& reader) {
  const protozero::data_view view = view_of(reader);
  return std::as_bytes(std::span(view.data(), view.size()));
}

[[gnu::always_inline]] inline std::string_view text_of(protozero::pbf_reader& reader) {
  const protozero::data_view view = view_of(reader);
  return {view.data(), view.size()};
}

/// Returns the number in the current field, a varint. @throws BadMessage
inline std::uint64_t varint_of(protozero::pbf_reader& reader) {
  require_type(reader, protozero::pbf_wire_type::varint);
  return reader.get_uint64();
}

/// As `varint_of`, for floating point. @throws BadMessage
inline double double_of(protozero::pbf_reader& reader) {
  require_type(reader, protozero::pbf_wire_type::fixed64);
  return reader.get_double();
}
inline float float_of(protozero::pbf_reader& reader) {
  require_type(reader, protozero::pbf_wire_type::fixed32);
  return reader.get_float();
}

/// Calls `take(field)` for each field of a message, and skips those that it does not read.
template <class Take>
void for_each_field(protozero::pbf_reader message, Take&& take) {
  while (next_field(message)) {
    const char* const content = message.data().data();
    take(message);
    if (message.data().data() == content) {  // what is read takes at least a byte
      skip_field(message);
    }
  }
}

/// As above, for each field of that number.
template <class Take>
void for_each_of(std::uint32_t number, protozero::pbf_reader message, const Take& take) {
  for_each_field(message, [&](protozero::pbf_reader& field) {
    if (field.tag() == number) {
      take(field);
    }
  });
}

inline protozero::pbf_reader reader_of(std::span<const std::byte> message) noexcept {
  return protozero::pbf_reader{reinterpret_cast<const char*>(message.data()), message.size()};
}

/// A field of which only key and length were read. A varint has no content.
struct RawField {
  std::uint64_t key = 0;
  std::uint64_t key_at = 0;     ///< Where its key begins,
  std::uint64_t length_at = 0;  ///< its length,
  std::uint64_t begin = 0;      ///< its content,
  std::uint64_t end = 0;        ///< and where that ends.
};
inline constexpr std::size_t raw_field_bytes = 20;  ///< The most that key and length take.

/// Reads the field at `at`, in a message that ends at `end`. `bytes`: what follows `at`. Returns what is wrong; null if
/// nothing is.
[[nodiscard]] const char* read_raw_field(std::span<const std::byte> bytes, std::uint64_t at, std::uint64_t end,
                                         RawField& field) noexcept;

/// Returns the problem of a message.
[[nodiscard]] Problem problem_of(const protozero::exception& error);

/// Returns the `Outcome` of `parse()`, or the exception that it throws as a problem.
template <class Parse>
auto guarded(Parse&& parse) -> decltype(parse()) {
  try {
    return parse();
  } catch (const protozero::exception& error) {
    return problem_of(error);
  } catch (const std::bad_alloc&) {
    return make_problem(ProblemKind::io, "out of memory");
  }
}

}  // namespace smd::detail::wire
