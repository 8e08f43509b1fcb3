// SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include <smd/elements.hpp>

#include "cli/exit_status.hpp"
#include "cli/text.hpp"
#include "text/ascii.hpp"
#include "text/half.hpp"
#include "text/limits.hpp"
#include "text/number.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>

namespace smd::tool::save {

namespace {

using nlohmann::json;

/// The object, a list for each dimension, and the list of a complex number's two parts.
constexpr std::size_t deepest = limits::dimensions + 2;

/// JSON with `null` in place of Python's constants.
struct StandardText {
  std::string text;
  std::vector<std::optional<double>> nulls;  ///< The constant that each stands for; nullopt: a `null`.
  std::vector<std::size_t>
      longer_from;  ///< From each of these bytes on, the text is one byte longer: `null` for `NaN`.

  [[nodiscard]] std::size_t original(std::size_t byte) const {
    const auto before = std::upper_bound(longer_from.begin(), longer_from.end(), byte);
    return byte - static_cast<std::size_t>(before - longer_from.begin());
  }
};

StandardText standard_text(std::string_view python) {
  StandardText result;
  std::string& out = result.text;
  out.reserve(python.size() + 16);
  bool in_string = false;
  while (!python.empty()) {
    std::size_t bytes = 1;
    if (in_string && python.front() == '\\') {
      bytes = std::min<std::size_t>(2, python.size());
    } else if (python.front() == '"') {
      in_string = !in_string;
    } else if (!in_string && text::is_letter(python.front())) {
      bytes =
          static_cast<std::size_t>(std::find_if_not(python.begin(), python.end(), text::is_letter) - python.begin());
    }
    const std::string_view word = python.substr(0, bytes);
    python.remove_prefix(bytes);
    if (word == "NaN") {
      result.nulls.emplace_back(std::numeric_limits<double>::quiet_NaN());
      out += "null";
      result.longer_from.push_back(out.size());
    } else if (word == "Infinity") {
      const bool negative = out.ends_with('-');
      result.nulls.emplace_back((negative ? -1 : 1) * std::numeric_limits<double>::infinity());
      out.resize(out.size() - (negative ? 1 : 0));
      out += negative ? "null     " : "null    ";
    } else {
      if (word == "null") {
        result.nulls.emplace_back();
      }
      out += word;
    }
  }
  return result;
}

[[noreturn]] void refuse_text(const text::JsonError& error, const StandardText& standard) {
  switch (error.fault) {
    case text::JsonFault::too_deep:
      throw InvalidValue("nested deeper than the limit (dimensions)");
    case text::JsonFault::number:
      throw InvalidValue(single_quoted(error.number) + " is beyond what a float64 can hold");
    case text::JsonFault::cut_off:
      throw InvalidValue("invalid JSON: it ends too soon");
    case text::JsonFault::malformed:
    case text::JsonFault::no_object:
    case text::JsonFault::no_memory:
      break;
  }
  const std::size_t byte = standard.original(static_cast<std::size_t>(error.offset));
  throw InvalidValue("invalid JSON at byte " + std::to_string(byte));
}

std::optional<double> special(const json& value) {
  return value.is_string() ? text::non_finite_of(value.get_ref<const std::string&>()) : std::nullopt;
}

/// The value as JSON text, cut off if it is long.
std::string text_of(const json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    return std::string(text::word_of_non_finite(value.get<double>()));
  }
  return text::json_excerpt(value, 60);
}

[[noreturn]] void refuse(const json& value, const std::string& why) {
  throw InvalidValue(single_quoted(text_of(value)) + why);
}

[[noreturn]] void refuse_size(const json& value, Dtype dtype) {
  refuse(value, " does not fit " + std::string(to_string(dtype)));
}

/// The smallest number that rounds to infinity: half way from the largest finite one to the next power of two.
template <class Stored>
constexpr double first_beyond = std::is_same_v<Stored, Half>       ? 65520
                                : std::is_same_v<Stored, BFloat16> ? 0x1.feffffp127  // by way of float32
                                : std::is_same_v<Stored, float>    ? 0x1.ffffffp127
                                                                   : std::numeric_limits<double>::infinity();

/// A number for an element of a floating-point type, or a part of a complex one, stored as `Stored`.
template <class Stored>
double real(const json& value, Dtype dtype) {
  if (const auto number = special(value)) {
    return *number;
  }
  if (!value.is_number()) {
    refuse(value, std::string(" is not a number") +
                      (value.is_string() ? "; those that are not finite are NaN, Infinity and -Infinity" : ""));
  }
  const auto number = value.get<double>();
  if (std::isfinite(number) && std::fabs(number) >= first_beyond<Stored>) {
    refuse_size(value, dtype);
  }
  return number;
}

template <class T>
void put(std::vector<std::byte>& bytes, T number) {
  const auto* const first = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), first, first + sizeof number);
}

void put_element(std::vector<std::byte>& bytes, const json& value, Dtype dtype) {
  visit_element_type(dtype, [&]<class Stored>(std::type_identity<Stored>) {
    if constexpr (std::is_floating_point_v<Stored>) {
      put(bytes, static_cast<Stored>(real<Stored>(value, dtype)));
    } else if constexpr (std::is_same_v<Stored, Half>) {
      put(bytes, detail::half_bits(real<Stored>(value, dtype)));
    } else if constexpr (std::is_same_v<Stored, BFloat16>) {
      put(bytes, detail::bfloat16_bits(static_cast<float>(real<Stored>(value, dtype))));
    } else if constexpr (std::is_same_v<Stored, bool>) {
      invalid_if(!value.is_boolean(), "bool: an element is neither true nor false");
      put(bytes, static_cast<std::uint8_t>(value.get<bool>() ? 1 : 0));
    } else if constexpr (std::is_integral_v<Stored>) {
      constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Stored>::max());
      const bool fits = value.is_number_unsigned()
                            ? value.get<std::uint64_t>() <= most
                            : value.is_number_integer() && std::in_range<Stored>(value.get<std::int64_t>());
      if (!fits) {
        refuse_size(value, dtype);
      }
      put(bytes, value.get<Stored>());
    } else if constexpr (std::is_same_v<Stored, std::string_view>) {
      invalid_if(!value.is_string(), "string: an element is not a text");
      append_string(bytes, value.get_ref<const std::string&>());
    } else if constexpr (std::is_same_v<Stored, Float8>) {
      throw InvalidValue("elements of that type cannot be given as JSON");
    } else {
      invalid_if(!value.is_array() || value.size() != 2, "complex: an element is not of the form [re, im]");
      using Part = typename Stored::value_type;
      for (const json& part : value) {
        put(bytes, static_cast<Part>(real<Part>(part, dtype)));
      }
    }
  });
}

/// The lengths of nested lists, following the first element of each.
Shape shape_of(const json& value, bool pairs) {
  Shape shape;
  for (const json* at = &value; at->is_array(); at = &at->front()) {
    shape.push_back(static_cast<std::int64_t>(at->size()));
    if (at->empty()) {
      return shape;
    }
  }
  if (pairs && !shape.empty()) {
    shape.pop_back();  // complex numbers are lists of two
  }
  return shape;
}

/// Appends the elements of a value, whose lists from this axis on must have these lengths.
void put_elements(Array& array, const json& value, std::span<const std::int64_t> shape) {
  if (shape.empty()) {
    put_element(array.bytes, value, array.dtype);
    return;
  }
  invalid_if(!value.is_array() || static_cast<std::int64_t>(value.size()) != shape.front(),
             "the lists differ in length: no array can be made of them");
  for (const json& item : value) {
    put_elements(array, item, shape.subspan(1));
  }
}

/// The type of a value without a dtype. Strings are refused: a misspelt NaN would make a tensor that no rule evaluates.
Dtype guess(const json& value) {
  const json* at = &value;
  while (at->is_array() && !at->empty()) {
    at = &at->front();
  }
  if (at->is_string() && !special(*at)) {
    refuse(*at,
           R"( is text; write NaN, Infinity or -Infinity for numbers that are not finite, or give "dtype": "string")");
  }
  return at->is_boolean() ? Dtype::boolean : Dtype::float64;
}

}  // namespace

void append_string(std::vector<std::byte>& bytes, std::string_view text) {
  put(bytes, static_cast<std::uint32_t>(text.size()));
  const auto content = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), content.begin(), content.end());
}

text::JsonDocument<json> parse_json(std::string_view text) {
  StandardText standard;
  text::NullMeaning constant;
  if (text.find("NaN") != text.npos || text.find("Infinity") != text.npos) {
    standard = standard_text(text);
    text = standard.text;
    constant = [next = standard.nulls.begin(), end = standard.nulls.end()]() mutable {
      return next == end ? std::nullopt : *next++;  // a text that is no JSON may have more: `nullx`
    };
  }
  text::JsonDocument<json> document;
  if (const auto error = text::parse_json(text, document, deepest, constant)) {
    refuse_text(*error, standard);
  }
  return document;
}

Dtype parse_dtype(const std::string& name) {
  if (const std::optional<Dtype> dtype = dtype_from_name(name)) {
    invalid_if(float8_numbers(*dtype) != nullptr, "dtype " + name + " cannot be saved in event files");
    return *dtype;
  }
  std::vector<std::string> names;
  for (const Dtype dtype : all_dtypes()) {
    if (float8_numbers(dtype) == nullptr) {
      names.emplace_back(to_string(dtype));
    }
  }
  throw InvalidValue("dtype " + single_quoted(name) + " is not known" + did_you_mean(detail::nearest(name, names, 1)));
}

Array array_from_json(const json& value, std::optional<Dtype> dtype, const std::optional<Shape>& shape) {
  Array array;
  array.dtype = dtype ? *dtype : guess(value);
  const Shape found = shape_of(value, is_complex(array.dtype));
  invalid_if(found.size() > limits::dimensions, "the value is nested deeper than the limit (dimensions)");
  array.shape = shape.value_or(found);
  invalid_if(!element_count(array.shape) || element_count(array.shape) != element_count(found),
             "shape " + to_string(array.shape) + " does not fit a value of shape " + to_string(found));
  put_elements(array, value, found);
  return array;
}

}  // namespace smd::tool::save
