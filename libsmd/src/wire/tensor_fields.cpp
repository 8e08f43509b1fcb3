// SPDX-License-Identifier: Apache-2.0
#include "wire/tensor_proto.hpp"

#include "text/half.hpp"
#include "wire/little_endian.hpp"
#include "wire/message.hpp"

#include <protozero/varint.hpp>

#include <smd/elements.hpp>
#include <smd/limits.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <concepts>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>

namespace smd::detail::wire {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

void scan_shape(pbf_reader shape, TensorParts& parts) {
  constexpr std::uint32_t dimension = 2, unknown_rank = 3;
  constexpr std::uint32_t size_of_dimension = 1;
  parts.has_shape = true;
  for_each_field(shape, [&](pbf_reader& field) {
    if (field.tag() == dimension) {
      std::int64_t size = 0;  // proto3 does not write zeros
      for_each_field(message_of(field), [&](pbf_reader& dim) {
        if (dim.tag() == size_of_dimension) {
          size = static_cast<std::int64_t>(varint_of(dim));
        }
      });
      if (parts.shape.size() < limits::dimensions) {
        parts.shape.push_back(size);
      } else {
        parts.too_many_dimensions = true;
      }
    } else if (field.tag() == unknown_rank) {
      parts.unknown_rank = varint_of(field) != 0;
    }
  });
}

/// A `*_val` field. `width`: of a number; 0: numbers are varints.
struct ValueField {
  std::string_view name = {};
  std::size_t width = 0;
};

/// By number.
// clang-format off
constexpr std::array<ValueField, tensor_field::count> value_fields = {{
    {}, {}, {}, {}, {},
    {"float_val", 4}, {"double_val", 8}, {"int_val"}, {"string_val"}, {"scomplex_val", 4}, {"int64_val"}, {"bool_val"},
    {"dcomplex_val", 8}, {"half_val"},
    {}, {},
    {"uint32_val"}, {"uint64_val"},
}};
// clang-format on

// The field that holds elements of a type.
constexpr std::uint32_t field_of(ElementType<float>) { return tensor_field::float_val; }
constexpr std::uint32_t field_of(ElementType<double>) { return tensor_field::double_val; }
constexpr std::uint32_t field_of(ElementType<std::string_view>) { return tensor_field::string_val; }
constexpr std::uint32_t field_of(ElementType<std::complex<float>>) { return tensor_field::scomplex_val; }
constexpr std::uint32_t field_of(ElementType<std::complex<double>>) { return tensor_field::dcomplex_val; }
constexpr std::uint32_t field_of(ElementType<std::int64_t>) { return tensor_field::int64_val; }
constexpr std::uint32_t field_of(ElementType<bool>) { return tensor_field::bool_val; }
constexpr std::uint32_t field_of(ElementType<Half>) { return tensor_field::half_val; }
constexpr std::uint32_t field_of(ElementType<BFloat16>) { return tensor_field::half_val; }
constexpr std::uint32_t field_of(ElementType<std::uint32_t>) { return tensor_field::uint32_val; }
constexpr std::uint32_t field_of(ElementType<std::uint64_t>) { return tensor_field::uint64_val; }
constexpr std::uint32_t field_of(ElementType<Float8>) { return 0; }
template <std::integral Stored>
requires(sizeof(Stored) < sizeof(std::int64_t)) constexpr std::uint32_t field_of(ElementType<Stored>) {
  return tensor_field::int_val;
}

/// Calls `take` for each occurrence of a field in all pieces.
template <class Take>
void for_each(std::span<const std::span<const std::byte>> pieces, std::uint32_t number, Take take) {
  for (const std::span<const std::byte> piece : pieces) {
    for_each_field(reader_of(piece), [&](pbf_reader& field) {
      if (field.tag() == number) {
        take(field);
      }
    });
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

/// Decodes a field of varints, each as `Stored` after `convert`. Returns the first that is out of its range.
template <class Stored, class Convert = std::identity>
std::optional<std::int64_t> decode_varints(std::uint32_t field, std::span<const std::span<const std::byte>> pieces,
                                           Sink& sink, Convert convert = {}) {
  std::optional<std::int64_t> misfit;
  for_each(pieces, field, [&](pbf_reader& reader) {
    for_each_varint(reader, [&](std::uint64_t number) {
      const auto value = convert(number);
      if (!misfit && !std::in_range<Stored>(value)) {
        misfit = static_cast<std::int64_t>(value);
      }
      sink.number<std::make_unsigned_t<Stored>>(static_cast<std::uint64_t>(value));
    });
  });
  return misfit;
}

/// Returns how many numbers a packed field holds. @throws protozero::exception if that is not a whole number.
std::uint64_t count_packed(std::size_t width, std::span<const std::byte> bytes) {
  if (width != 0) {
    if (bytes.size() % width != 0) {
      throw protozero::invalid_length_exception{};
    }
    return bytes.size() / width;
  }
  const auto is_last = [](std::byte b) { return (b & std::byte{0x80}) == std::byte{0}; };
  if (!bytes.empty() && !is_last(bytes.back())) {
    throw protozero::end_of_buffer_exception{};
  }
  return static_cast<std::uint64_t>(std::count_if(bytes.begin(), bytes.end(), is_last));
}

/// Returns how many numbers or strings the current `*_val` field holds. @throws protozero::exception
std::uint64_t count_values(pbf_reader& reader) {
  if (reader.tag() == tensor_field::string_val) {
    (void)view_of(reader);
    return 1;
  }
  const std::size_t width = value_fields[reader.tag()].width;
  const pbf_wire_type unpacked = width == 4   ? pbf_wire_type::fixed32
                                 : width == 8 ? pbf_wire_type::fixed64
                                              : pbf_wire_type::varint;
  if (reader.wire_type() == unpacked) {
    skip_field(reader);
    return 1;
  }
  return count_packed(width, bytes_of(reader));
}

}  // namespace

std::uint32_t value_field(Dtype dtype) {
  return visit_element_type(dtype, [](auto type) -> std::uint32_t { return field_of(type); });
}

std::string_view value_field_name(std::uint32_t field) noexcept {
  return field < value_fields.size() ? value_fields[field].name : std::string_view();
}

bool has_elements(const TensorParts& parts) noexcept {
  return parts.content || std::any_of(parts.values.begin(), parts.values.end(), [](auto n) { return n != 0; });
}

TensorParts scan_tensor(std::span<const std::span<const std::byte>> pieces) {
  TensorParts parts;
  for (const std::span<const std::byte> piece : pieces) {
    for_each_field(reader_of(piece), [&](pbf_reader& field) {
      if (field.tag() == tensor_field::dtype) {
        parts.dtype = varint_of(field);
      } else if (field.tag() == tensor_field::shape) {
        scan_shape(message_of(field), parts);
      } else if (field.tag() == tensor_field::content) {
        parts.content = bytes_of(field);
      } else if (const std::uint32_t number = field.tag(); !value_field_name(number).empty()) {
        parts.values[number] += count_values(field);
      }
    });
  }
  return parts;
}

std::optional<std::int64_t> decode_values(Dtype dtype, std::uint32_t field,
                                          std::span<const std::span<const std::byte>> pieces,
                                          std::span<std::byte> into) {
  Sink sink(into);
  if (value_fields[field].width != 0) {
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
      return decode_varints<std::uint8_t>(field, pieces, sink,
                                          [](std::uint64_t number) { return number != 0 ? 1U : 0U; });
    } else if constexpr (std::is_same_v<Stored, Half> || std::is_same_v<Stored, BFloat16>) {
      return decode_varints<std::uint16_t>(field, pieces, sink);
    } else if constexpr (std::is_same_v<Stored, std::uint32_t> || std::is_same_v<Stored, std::uint64_t> ||
                         std::is_same_v<Stored, std::int64_t>) {
      return decode_varints<std::make_unsigned_t<Stored>>(field, pieces, sink);
    } else if constexpr (std::is_integral_v<Stored>) {
      return decode_varints<Stored>(field, pieces, sink, [](std::uint64_t number) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(number));  // protobuf truncates to 32 bits
      });
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
  decode_varints<std::uint16_t>(tensor_field::half_val, pieces, sink, [&](std::uint64_t bits) {
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return dtype == Dtype::bfloat16 ? bfloat16_bits(number) : half_bits(number);
  });
}

PackedStrings packed_strings(std::span<const std::span<const std::byte>> pieces) {
  PackedStrings size;
  for_each(pieces, tensor_field::string_val, [&](pbf_reader& reader) {
    size.last = 4 + view_of(reader).size();
    size.all += size.last;
  });
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
