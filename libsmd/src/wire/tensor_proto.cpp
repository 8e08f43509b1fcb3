// SPDX-License-Identifier: Apache-2.0
#include "wire/tensor_proto.hpp"

#include "text/half.hpp"
#include "text/limits.hpp"
#include "wire/little_endian.hpp"
#include "wire/message.hpp"
#include "wire/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <concepts>
#include <cstring>
#include <functional>
#include <string_view>
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
      for_each_of(size_of_dimension, message_of(field),
                  [&](pbf_reader& dim) { size = static_cast<std::int64_t>(varint_of(dim)); });
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

// The field that holds elements of a type; 0 for types that event files do not hold.
constexpr std::uint32_t field_of(std::type_identity<float>) { return tensor_field::float_val; }
constexpr std::uint32_t field_of(std::type_identity<double>) { return tensor_field::double_val; }
constexpr std::uint32_t field_of(std::type_identity<std::string_view>) { return tensor_field::string_val; }
constexpr std::uint32_t field_of(std::type_identity<std::complex<float>>) { return tensor_field::scomplex_val; }
constexpr std::uint32_t field_of(std::type_identity<std::complex<double>>) { return tensor_field::dcomplex_val; }
constexpr std::uint32_t field_of(std::type_identity<std::int64_t>) { return tensor_field::int64_val; }
constexpr std::uint32_t field_of(std::type_identity<bool>) { return tensor_field::bool_val; }
constexpr std::uint32_t field_of(std::type_identity<Half>) { return tensor_field::half_val; }
constexpr std::uint32_t field_of(std::type_identity<BFloat16>) { return tensor_field::half_val; }
constexpr std::uint32_t field_of(std::type_identity<std::uint32_t>) { return tensor_field::uint32_val; }
constexpr std::uint32_t field_of(std::type_identity<std::uint64_t>) { return tensor_field::uint64_val; }
constexpr std::uint32_t field_of(std::type_identity<Float8>) { return 0; }
template <std::integral Stored>
requires(sizeof(Stored) < sizeof(std::int64_t)) constexpr std::uint32_t field_of(std::type_identity<Stored>) {
  return tensor_field::int_val;
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
std::optional<std::int64_t> decode_varints(std::uint32_t field, std::span<const std::byte> tensor, Sink& sink,
                                           Convert convert = {}) {
  std::optional<std::int64_t> misfit;
  for_each_of(field, reader_of(tensor), [&](pbf_reader& reader) {
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
  return static_cast<std::uint64_t>(std::ranges::count_if(bytes, is_last));
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

/// Returns the field's name, such as `float_val`.
std::string_view value_field_name(std::uint32_t field) noexcept {
  return field < value_fields.size() ? value_fields[field].name : std::string_view();
}

/// Writes all values in the `*_val` field `field` of `tensor` to `into`, which has room for exactly as many as
/// `scan_tensor` counted. Returns the first number that the type cannot represent; nullopt if there is none.
std::optional<std::int64_t> decode_values(Dtype dtype, std::uint32_t field, std::span<const std::byte> tensor,
                                          std::span<std::byte> into) {
  Sink sink(into);
  if (value_fields[field].width != 0) {
    for_each_of(field, reader_of(tensor), [&](pbf_reader& reader) {
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
  return visit_element_type(dtype, [&]<class Stored>(std::type_identity<Stored>) -> std::optional<std::int64_t> {
    if constexpr (std::is_same_v<Stored, bool>) {
      return decode_varints<std::uint8_t>(field, tensor, sink,
                                          [](std::uint64_t number) { return number != 0 ? 1U : 0U; });
    } else if constexpr (std::is_same_v<Stored, Half> || std::is_same_v<Stored, BFloat16>) {
      return decode_varints<std::uint16_t>(field, tensor, sink);
    } else if constexpr (std::is_same_v<Stored, std::uint32_t> || std::is_same_v<Stored, std::uint64_t> ||
                         std::is_same_v<Stored, std::int64_t>) {
      return decode_varints<std::make_unsigned_t<Stored>>(field, tensor, sink);
    } else if constexpr (std::is_integral_v<Stored>) {
      return decode_varints<Stored>(field, tensor, sink, [](std::uint64_t number) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(number));  // protobuf truncates to 32 bits
      });
    } else {
      refuse_elements(dtype);  // its field has numbers of fixed width, or is not one of numbers
    }
  });
}

/// Returns true if `half_val` holds anything wider than 16 bits. PyTorch stores the bits of a float32 there for each
/// element. [torch/utils/tensorboard/summary.py]
bool has_wide_halves(std::span<const std::byte> tensor) {
  bool wide = false;
  for_each_of(tensor_field::half_val, reader_of(tensor), [&](pbf_reader& reader) {
    for_each_varint(reader, [&](std::uint64_t number) { wide = wide || static_cast<std::uint32_t>(number) > 0xFFFF; });
  });
  return wide;
}

/// Writes the elements of a wide `half_val` as float16 or bfloat16.
void decode_wide_halves(Dtype dtype, std::span<const std::byte> tensor, std::span<std::byte> into) {
  Sink sink(into);
  decode_varints<std::uint16_t>(tensor_field::half_val, tensor, sink, [&](std::uint64_t bits) {
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    return dtype == Dtype::bfloat16 ? bfloat16_bits(number) : half_bits(number);
  });
}

/// Writes all strings in packed form, each preceded by its length in four bytes.
void pack_strings(std::span<const std::byte> tensor, std::span<std::byte> into) {
  Sink sink(into);
  for_each_of(tensor_field::string_val, reader_of(tensor), [&](pbf_reader& reader) {
    const std::span<const std::byte> text = bytes_of(reader);
    sink.number<std::uint32_t>(text.size());
    sink.bytes(text);
  });
}

std::optional<Dtype> known_dtype(std::uint64_t number) noexcept {
  const std::span<const Dtype> all = all_dtypes();
  const auto found = std::ranges::find_if(
      all, [number](Dtype dtype) { return static_cast<std::uint64_t>(dtype) == number && is_in_event_files(dtype); });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

/// Checks one tensor. Each check returns the text of the problem, without the subject, or nullopt.
class Decoder {
 public:
  Decoder(TensorParts& parts, std::span<const std::byte> tensor, std::optional<std::uint64_t> outlined,
          ValueKinds kinds)
      : parts_(parts), tensor_(tensor), outlined_(outlined), kinds_(kinds) {
    content_bytes_ = outlined ? *outlined : parts.content ? parts.content->size() : 0;
  }

  std::optional<std::string> decode(Value& value) {
    if (auto wrong = find_shape(value); wrong) {
      return wrong;
    }
    if (auto wrong = find_dtype(value); wrong) {
      return wrong;
    }
    field_ = visit_element_type(value.dtype, [](auto type) -> std::uint32_t { return field_of(type); });
    const bool bytes = value.dtype == Dtype::uint8 || value.dtype == Dtype::quint8;
    if (kinds_ == ValueKinds::summaries && bytes && parts_.values[tensor_field::uint32_val] != 0) {
      field_ = tensor_field::uint32_val;
    }
    return value.dtype == Dtype::string ? strings(value) : numbers(value);
  }

 private:
  std::optional<std::string> find_shape(Value& value) {
    if (!parts_.has_shape && kinds_ == ValueKinds::tensors) {
      return "no shape";
    }
    if (parts_.unknown_rank) {
      return "a shape of unknown rank";
    }
    if (parts_.too_many_dimensions) {
      return fmt::format("more dimensions than the limit (dimensions) of {}", limits::dimensions);
    }
    const std::optional<std::uint64_t> count = element_count(parts_.shape);
    if (!count) {
      const auto dim = std::ranges::find_if(parts_.shape, [](std::int64_t size) { return size < 0; });
      return dim != parts_.shape.end()
                 ? fmt::format("a negative dimension, {}", *dim)
                 : fmt::format("shape {}, of more elements than 63 bits count", to_string(parts_.shape));
    }
    elements_ = *count;
    value.shape = std::move(parts_.shape);
    return {};
  }

  std::optional<std::string> find_dtype(Value& value) {
    if (parts_.dtype == 0) {
      // The reference writes no type for strings; an empty array of strings has only its shape.
      if (content_bytes_ == 0 && (parts_.values[tensor_field::string_val] != 0 || elements_ == 0)) {
        value.dtype = Dtype::string;
        return {};
      }
      return "no element type (0)";
    }
    const std::optional<Dtype> dtype = known_dtype(parts_.dtype);
    if (!dtype) {
      return fmt::format("unknown element type {}", static_cast<std::int64_t>(parts_.dtype));
    }
    value.dtype = *dtype;
    return {};
  }

  /// Returns a text such as `float32 2x3`.
  [[nodiscard]] static std::string kind_of(const Value& value) {
    return fmt::format("{} {}", to_string(value.dtype), to_string(value.shape));
  }

  /// Rejects values in a field that does not belong to this type.
  [[nodiscard]] std::optional<std::string> stray_values(const Value& value) const {
    for (std::uint32_t field = 0; field < tensor_field::count; ++field) {
      if (field != field_ && parts_.values[field] != 0) {
        return fmt::format("{} in its {}, but {} belongs in {}", parts_.values[field], value_field_name(field),
                           to_string(value.dtype), value_field_name(field_));
      }
    }
    return {};
  }

  std::optional<std::string> strings(Value& value) {
    const std::uint64_t given = parts_.values[tensor_field::string_val];
    if (content_bytes_ != 0) {
      return fmt::format("{} bytes of content, where strings should be", content_bytes_);
    }
    if (auto wrong = stray_values(value); wrong) {
      return wrong;
    }
    // The reference, which writes no type, stores each string.
    if (given > elements_ || (given < elements_ && parts_.dtype == 0)) {
      return fmt::format("{} strings, but {} needs {}", given, kind_of(value), elements_);
    }
    std::uint64_t bytes = 0;
    std::uint64_t last = 4;  // in packed form; without strings, of an empty one
    for_each_of(tensor_field::string_val, reader_of(tensor_), [&](pbf_reader& reader) {
      last = 4 + view_of(reader).size();
      bytes += last;
    });
    if (auto wrong = too_many_repeats(value, given, last); wrong) {
      return wrong;
    }
    if (elements_ != 0) {
      const std::span<std::byte> into = value.own(bytes + (elements_ - given) * last);
      pack_strings(tensor_, into.first(bytes));
      const std::array<std::byte, 4> empty = {};
      fill_repeated(into.subspan(bytes), given == 0 ? std::span<const std::byte>(empty) : into.first(bytes).last(last));
    }
    return {};
  }

  std::optional<std::string> numbers(Value& value) {
    const std::size_t item = item_size(value.dtype);
    if (auto wrong = stray_values(value); wrong) {
      return wrong;
    }
    const std::uint64_t given = parts_.values[field_];
    if (content_bytes_ != 0 && given != 0) {
      return fmt::format("both {} bytes of content and {} values in its {}", content_bytes_, given,
                         value_field_name(field_));
    }
    if (given != 0) {
      return typed(value, given);
    }
    if (content_bytes_ == 0 && elements_ != 0) {
      if (auto wrong = too_many_repeats(value, 0, item); wrong) {
        return wrong;
      }
      std::ranges::fill(value.own(item), std::byte{0});  // as many elements of 0 as the shape says
      value.repeats = elements_ - 1;
      return {};
    }
    if (content_bytes_ % item != 0 || content_bytes_ / item != elements_) {
      return fmt::format("{} bytes of content, but {} needs {}{}", content_bytes_, kind_of(value), elements_,
                         item == 1 ? std::string() : fmt::format(" times {}", item));
    }
    if (outlined_ || !parts_.content) {
      return {};
    }
    value.bytes = *parts_.content;
    if (value.dtype == Dtype::boolean && !is_normal_boolean(value.bytes)) {
      const std::span<std::byte> into = value.own(value.bytes.size());
      std::memcpy(into.data(), parts_.content->data(), into.size());
      normalise_boolean(into);
    }
    return {};
  }

  /// Decodes elements from the `*_val` field; all that are missing equal the last one.
  std::optional<std::string> typed(Value& value, std::uint64_t given) {
    const std::string_view field = value_field_name(field_);
    const std::size_t item = item_size(value.dtype);
    if (is_complex(value.dtype)) {
      if (given % 2 != 0) {
        return fmt::format("{} numbers in its {}, which is no whole number of pairs", given, field);
      }
      given /= 2;
    }
    if (given > elements_) {
      return fmt::format("{} values in its {}, but {} needs {}", given, field, kind_of(value), elements_);
    }
    if (auto wrong = too_many_repeats(value, given, item); wrong) {
      return wrong;
    }
    const std::span<std::byte> into = value.own(given * item);
    value.repeats = elements_ - given;
    if (kinds_ == ValueKinds::summaries && field_ == tensor_field::half_val && has_wide_halves(tensor_)) {
      decode_wide_halves(value.dtype, tensor_, into);
      return {};
    }
    if (const auto misfit = decode_values(value.dtype, field_, tensor_, into); misfit) {
      return fmt::format("{} in its {}, which {} cannot hold", *misfit, field, to_string(value.dtype));
    }
    return {};
  }

  [[nodiscard]] std::optional<std::string> too_many_repeats(const Value& value, std::uint64_t given,
                                                            std::uint64_t item) const {
    if (elements_ - given <= limits::repeated_value_bytes / item) {
      return {};
    }
    return fmt::format("{} values in its {} for {} of {} elements; the limit (repeated_value_bytes) is {} bytes", given,
                       value_field_name(field_), kind_of(value), elements_, limits::repeated_value_bytes);
  }

  TensorParts& parts_;
  std::span<const std::byte> tensor_;
  std::optional<std::uint64_t> outlined_;
  ValueKinds kinds_;
  std::uint32_t field_ = 0;  // which holds the elements, unless they are content
  std::uint64_t content_bytes_ = 0;
  std::uint64_t elements_ = 0;
};

// The functions from here on read what a scan of an event file needs from a TensorProto.

constexpr std::size_t most_bytes = sizeof(ScalarBits::bits);

std::uint64_t bits_of(std::span<const std::byte> element) noexcept {
  std::array<std::byte, most_bytes> bytes{};
  std::ranges::copy(element, bytes.begin());
  return load_little<std::uint64_t>(bytes);
}

/// Returns a float32 or float64 in the form that known writers use: type, no shape or one without dimensions, and the
/// element. Nullopt for any other form.
std::optional<ScalarBits> plain_scalar(std::span<const std::byte> proto) noexcept {
  constexpr std::byte dtype_key{tensor_field::dtype << 3}, shape_key{tensor_field::shape << 3 | 2},
      content_key{tensor_field::content << 3 | 2}, float_key{tensor_field::float_val << 3 | 2},
      double_key{tensor_field::double_val << 3 | 2};
  if (proto.size() < 4 || proto[0] != dtype_key) {
    return {};
  }
  const auto dtype = static_cast<Dtype>(proto[1]);
  if (dtype != Dtype::float32 && dtype != Dtype::float64) {
    return {};
  }
  const bool has_shape = proto[2] == shape_key && proto[3] == std::byte{0};
  const std::span<const std::byte> rest = proto.subspan(has_shape ? 4 : 2);
  const std::size_t item = dtype == Dtype::float32 ? sizeof(float) : sizeof(double);
  if (rest.size() != 2 + item || rest[1] != static_cast<std::byte>(item) ||
      (rest[0] != content_key && rest[0] != (dtype == Dtype::float32 ? float_key : double_key))) {
    return {};
  }
  return ScalarBits{dtype, bits_of(rest.subspan(2))};
}

}  // namespace

bool has_elements(const TensorParts& parts) noexcept {
  return parts.content || std::ranges::any_of(parts.values, [](auto n) { return n != 0; });
}

TensorParts scan_tensor(std::span<const std::byte> tensor) {
  TensorParts parts;
  for_each_field(reader_of(tensor), [&](pbf_reader& field) {
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
  return parts;
}

Outcome<Value> decode_tensor(TensorParts&& parts, std::span<const std::byte> tensor,
                             std::optional<std::uint64_t> outlined, ValueKinds kinds) {
  Value value;
  if (auto wrong = Decoder(parts, tensor, outlined, kinds).decode(value); wrong) {
    return damaged(std::move(*wrong));
  }
  return value;
}

std::optional<ScalarBits> scalar_of_tensor(std::span<const std::byte> tensor_proto) noexcept try {
  if (const auto plain = plain_scalar(tensor_proto)) {
    return plain;
  }
  TensorParts parts = scan_tensor(tensor_proto);
  if (element_count(parts.shape) != 1) {
    return {};
  }
  const Outcome<Value> value = decode_tensor(std::move(parts), tensor_proto, {}, ValueKinds::summaries);
  if (!value || value->dtype == Dtype::string || value->bytes.size() > most_bytes) {
    return {};
  }
  return ScalarBits{value->dtype, bits_of(value->bytes)};
} catch (...) {  // damaged, or no memory
  return {};
}

}  // namespace smd::detail::wire
