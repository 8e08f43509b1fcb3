// SPDX-License-Identifier: Apache-2.0
#include "wire/tensor_proto.hpp"

#include "wire/little_endian.hpp"
#include "wire/message.hpp"
#include "wire/summary.hpp"

#include <smd/limits.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace smd::detail::wire {

namespace {

std::optional<Dtype> known_dtype(std::uint64_t number) noexcept {
  const std::span<const Dtype> all = all_dtypes();
  const auto found = std::find_if(all.begin(), all.end(), [number](Dtype dtype) {
    return static_cast<std::uint64_t>(dtype) == number && is_in_event_files(dtype);
  });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

/// Checks one tensor. Each check returns the text of the problem, without the subject, or nullopt.
class Decoder {
 public:
  Decoder(TensorParts& parts, std::span<const std::span<const std::byte>> pieces, std::optional<std::uint64_t> outlined,
          ValueKinds kinds)
      : parts_(parts), pieces_(pieces), outlined_(outlined), kinds_(kinds) {
    content_bytes_ = outlined ? *outlined : parts.content ? parts.content->size() : 0;
  }

  std::optional<std::string> decode(Value& value) {
    if (auto wrong = find_shape(value); wrong) {
      return wrong;
    }
    if (auto wrong = find_dtype(value); wrong) {
      return wrong;
    }
    field_ = value_field(value.dtype);
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
      for (const std::int64_t dim : parts_.shape) {
        if (dim < 0) {
          return fmt::format("a negative dimension, {}", dim);
        }
      }
      return fmt::format("shape {}, of more elements than 63 bits count", to_string(parts_.shape));
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
    const auto [bytes, last] = packed_strings(pieces_);
    if (auto wrong = too_many_repeats(value, given, last); wrong) {
      return wrong;
    }
    if (elements_ != 0) {
      const std::span<std::byte> into = value.own(bytes + (elements_ - given) * last);
      pack_strings(pieces_, into.first(bytes));
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
      return zeros(value);
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
    if (kinds_ == ValueKinds::summaries && field_ == tensor_field::half_val && has_wide_halves(pieces_)) {
      decode_wide_halves(value.dtype, pieces_, into);
      return {};
    }
    if (const auto misfit = decode_values(value.dtype, field_, pieces_, into); misfit) {
      return fmt::format("{} in its {}, which {} cannot hold", *misfit, field, to_string(value.dtype));
    }
    return {};
  }

  /// Makes elements of 0, as many as the shape says.
  std::optional<std::string> zeros(Value& value) {
    const std::size_t item = item_size(value.dtype);
    if (auto wrong = too_many_repeats(value, 0, item); wrong) {
      return wrong;
    }
    std::ranges::fill(value.own(item), std::byte{0});
    value.repeats = elements_ - 1;
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
  std::span<const std::span<const std::byte>> pieces_;
  std::optional<std::uint64_t> outlined_;
  ValueKinds kinds_;
  std::uint32_t field_ = 0;  // which holds the elements, unless they are content
  std::uint64_t content_bytes_ = 0;
  std::uint64_t elements_ = 0;
};

}  // namespace

Outcome<Value> decode_tensor(TensorParts&& parts, std::span<const std::span<const std::byte>> pieces,
                             std::optional<std::uint64_t> outlined, ValueKinds kinds) {
  Value value;
  if (auto wrong = Decoder(parts, pieces, outlined, kinds).decode(value); wrong) {
    return damaged(std::move(*wrong));
  }
  return value;
}

// Reads what a scan of an event file needs from a TensorProto.
namespace {

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

std::optional<ScalarBits> scalar_of_tensor(std::span<const std::byte> tensor_proto) noexcept try {
  if (const auto plain = plain_scalar(tensor_proto)) {
    return plain;
  }
  const std::span pieces(&tensor_proto, 1);
  TensorParts parts = scan_tensor(pieces);
  if (element_count(parts.shape) != 1) {
    return {};
  }
  const Outcome<Value> value = decode_tensor(std::move(parts), pieces, {}, ValueKinds::summaries);
  if (!value || value->dtype == Dtype::string || value->bytes.size() > most_bytes) {
    return {};
  }
  return ScalarBits{value->dtype, bits_of(value->bytes)};
} catch (...) {  // damaged, or no memory
  return {};
}

}  // namespace smd::detail::wire
