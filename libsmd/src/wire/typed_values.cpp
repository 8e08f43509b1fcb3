// SPDX-License-Identifier: Apache-2.0
#include "wire/typed_values.hpp"

#include "text/half.hpp"
#include "wire/little_endian.hpp"
#include "wire/message.hpp"
#include "wire/tensor_proto.hpp"

#include <protozero/varint.hpp>

#include <smd/elements.hpp>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>

namespace smd::detail::wire {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

/// Returns the size of a number in a fixed-width field; 0 for varints.
std::size_t fixed_width(std::uint32_t field) noexcept {
  switch (field) {
    case tensor_field::float_val:
    case tensor_field::scomplex_val:
      return 4;
    case tensor_field::double_val:
    case tensor_field::dcomplex_val:
      return 8;
    default:
      return 0;
  }
}

/// Calls `take` for each occurrence of a field in all pieces.
template <class Take>
void for_each(std::span<const std::span<const std::byte>> pieces, std::uint32_t field, Take take) {
  for (const std::span<const std::byte> piece : pieces) {
    pbf_reader reader{reinterpret_cast<const char*>(piece.data()), piece.size()};
    while (next_field(reader)) {
      if (reader.tag() == field) {
        take(reader);
      } else {
        skip_field(reader);
      }
    }
  }
}

/// The destination of decoded elements. Never writes past the end, whatever the input.
class Sink {
 public:
  explicit Sink(std::span<std::byte> into) noexcept : into_(into) {}

  void bytes(std::span<const std::byte> from) noexcept {
    const std::size_t size = std::min(from.size(), into_.size());
    if (size != 0) {
      std::memcpy(into_.data(), from.data(), size);
    }
    into_ = into_.subspan(size);
  }
  template <class T>
  void number(std::uint64_t value) noexcept {
    if (into_.size() >= sizeof(T)) {
      store_little<T>(into_.data(), static_cast<T>(value));
      into_ = into_.subspan(sizeof(T));
    }
  }

 private:
  std::span<std::byte> into_;
};

/// Calls `take` for each number in one occurrence of a varint field.
template <class Take>
void for_each_varint(pbf_reader& reader, Take take) {
  if (reader.wire_type() == pbf_wire_type::varint) {
    take(reader.get_uint64());
    return;
  }
  const protozero::data_view packed = view_of(reader);
  const char* at = packed.data();
  const char* const end = at + packed.size();
  while (at != end) {
    take(protozero::decode_varint(&at, end));
  }
}

/// Decodes a field for a type no wider than int32. Protobuf truncates its numbers to 32 bits.
template <class T>
std::optional<std::int64_t> decode_int32(std::uint32_t field, std::span<const std::span<const std::byte>> pieces,
                                         Sink& sink) {
  std::optional<std::int64_t> misfit;
  for_each(pieces, field, [&](pbf_reader& reader) {
    for_each_varint(reader, [&](std::uint64_t number) {
      const auto value = static_cast<std::int32_t>(static_cast<std::uint32_t>(number));
      if (!misfit && (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())) {
        misfit = value;
      }
      sink.number<std::make_unsigned_t<T>>(static_cast<std::uint64_t>(value));
    });
  });
  return misfit;
}

/// Decodes a field whose numbers are the elements' bits.
template <class Bits, class Convert = std::identity>
std::optional<std::int64_t> decode_bits(std::uint32_t field, std::span<const std::span<const std::byte>> pieces,
                                        Sink& sink, Convert convert = {}) {
  std::optional<std::int64_t> misfit;
  for_each(pieces, field, [&](pbf_reader& reader) {
    for_each_varint(reader, [&](std::uint64_t number) {
      number = convert(number);
      if (!misfit && number > std::numeric_limits<Bits>::max()) {
        misfit = static_cast<std::int64_t>(number);
      }
      sink.number<Bits>(number);
    });
  });
  return misfit;
}

}  // namespace

std::uint32_t value_field(Dtype dtype) {
  return visit_element_type(dtype, []<class Stored>(ElementType<Stored>) -> std::uint32_t {
    if constexpr (std::is_same_v<Stored, float>) {
      return tensor_field::float_val;
    } else if constexpr (std::is_same_v<Stored, double>) {
      return tensor_field::double_val;
    } else if constexpr (std::is_same_v<Stored, std::string_view>) {
      return tensor_field::string_val;
    } else if constexpr (std::is_same_v<Stored, std::complex<float>>) {
      return tensor_field::scomplex_val;
    } else if constexpr (std::is_same_v<Stored, std::complex<double>>) {
      return tensor_field::dcomplex_val;
    } else if constexpr (std::is_same_v<Stored, std::int64_t>) {
      return tensor_field::int64_val;
    } else if constexpr (std::is_same_v<Stored, bool>) {
      return tensor_field::bool_val;
    } else if constexpr (std::is_same_v<Stored, Half> || std::is_same_v<Stored, BFloat16>) {
      return tensor_field::half_val;
    } else if constexpr (std::is_same_v<Stored, std::uint32_t>) {
      return tensor_field::uint32_val;
    } else if constexpr (std::is_same_v<Stored, std::uint64_t>) {
      return tensor_field::uint64_val;
    } else if constexpr (std::is_same_v<Stored, Float8>) {
      return 0;
    } else {
      static_assert(std::is_integral_v<Stored> && sizeof(Stored) <= 4);
      return tensor_field::int_val;
    }
  });
}

std::string_view value_field_name(std::uint32_t field) noexcept {
  switch (field) {
    case tensor_field::float_val:
      return "float_val";
    case tensor_field::double_val:
      return "double_val";
    case tensor_field::int_val:
      return "int_val";
    case tensor_field::string_val:
      return "string_val";
    case tensor_field::scomplex_val:
      return "scomplex_val";
    case tensor_field::int64_val:
      return "int64_val";
    case tensor_field::bool_val:
      return "bool_val";
    case tensor_field::dcomplex_val:
      return "dcomplex_val";
    case tensor_field::half_val:
      return "half_val";
    case tensor_field::uint32_val:
      return "uint32_val";
    case tensor_field::uint64_val:
      return "uint64_val";
    default:
      return "";
  }
}

std::uint64_t count_packed(std::uint32_t field, std::span<const std::byte> bytes) {
  if (const std::size_t width = fixed_width(field); width != 0) {
    if (bytes.size() % width != 0) {
      throw protozero::invalid_length_exception{};
    }
    return bytes.size() / width;
  }
  if (!bytes.empty() && (bytes.back() & std::byte{0x80}) != std::byte{0}) {
    throw protozero::end_of_buffer_exception{};
  }
  return static_cast<std::uint64_t>(
      std::count_if(bytes.begin(), bytes.end(), [](std::byte b) { return (b & std::byte{0x80}) == std::byte{0}; }));
}

std::optional<std::int64_t> decode_values(Dtype dtype, std::uint32_t field,
                                          std::span<const std::span<const std::byte>> pieces,
                                          std::span<std::byte> into) {
  Sink sink(into);
  if (fixed_width(field) != 0) {
    for_each(pieces, field, [&](pbf_reader& reader) {
      if (reader.wire_type() == pbf_wire_type::fixed32) {
        sink.number<std::uint32_t>(reader.get_fixed32());
      } else if (reader.wire_type() == pbf_wire_type::fixed64) {
        sink.number<std::uint64_t>(reader.get_fixed64());
      } else {
        sink.bytes(bytes_of(reader));
      }
    });
    return {};
  }
  return visit_element_type(dtype, [&]<class Stored>(ElementType<Stored>) -> std::optional<std::int64_t> {
    if constexpr (std::is_same_v<Stored, bool>) {
      return decode_bits<std::uint8_t>(field, pieces, sink, [](std::uint64_t number) { return number != 0 ? 1U : 0U; });
    } else if constexpr (std::is_same_v<Stored, Half> || std::is_same_v<Stored, BFloat16>) {
      return decode_bits<std::uint16_t>(field, pieces, sink);
    } else if constexpr (std::is_same_v<Stored, std::uint32_t> || std::is_same_v<Stored, std::uint64_t> ||
                         std::is_same_v<Stored, std::int64_t>) {
      return decode_bits<std::make_unsigned_t<Stored>>(field, pieces, sink);
    } else if constexpr (std::is_integral_v<Stored>) {
      return decode_int32<Stored>(field, pieces, sink);
    } else {
      refuse_elements(dtype);  // its field has numbers of fixed width, or is not one of numbers
    }
  });
}

bool has_wide_halves(std::span<const std::span<const std::byte>> pieces) {
  bool wide = false;
  for_each(pieces, tensor_field::half_val, [&](pbf_reader& reader) {
    for_each_varint(reader, [&](std::uint64_t number) { wide = wide || static_cast<std::uint32_t>(number) > 0xFFFF; });
  });
  return wide;
}

void decode_wide_halves(Dtype dtype, std::span<const std::span<const std::byte>> pieces, std::span<std::byte> into) {
  Sink sink(into);
  for_each(pieces, tensor_field::half_val, [&](pbf_reader& reader) {
    for_each_varint(reader, [&](std::uint64_t bits) {
      const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      sink.number<std::uint16_t>(dtype == Dtype::bfloat16 ? bfloat16_bits(number) : half_bits(number));
    });
  });
}

std::uint64_t packed_string_bytes(std::span<const std::span<const std::byte>> pieces) {
  std::uint64_t total = 0;
  for_each(pieces, tensor_field::string_val, [&](pbf_reader& reader) { total += 4 + view_of(reader).size(); });
  return total;
}

std::uint64_t last_string_bytes(std::span<const std::span<const std::byte>> pieces) {
  std::uint64_t size = 4;
  for_each(pieces, tensor_field::string_val, [&](pbf_reader& reader) { size = 4 + view_of(reader).size(); });
  return size;
}

void pack_strings(std::span<const std::span<const std::byte>> pieces, std::span<std::byte> into) {
  Sink sink(into);
  for_each(pieces, tensor_field::string_val, [&](pbf_reader& reader) {
    const std::span<const std::byte> text = bytes_of(reader);
    sink.number<std::uint32_t>(text.size());
    sink.bytes(text);
  });
}

}  // namespace smd::detail::wire
