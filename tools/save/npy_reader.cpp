// SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include <smd/error.hpp>

#include "cli/text.hpp"
#include "text/limits.hpp"
#include "text/number.hpp"
#include "text/trim.hpp"

#include <algorithm>
#include <cstring>

namespace smd::tool::save {

namespace {

/// For a file that is not damaged but has elements that cannot be saved.
[[noreturn]] void refuse_type(const std::string& where, std::string_view type) {
  throw ReadError({ProblemKind::io,
                   where,
                   {},
                   "elements of type " + std::string(type) +
                       " cannot be saved: bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, "
                       "complex128 and str can; convert them with astype"});
}

/// The text after `key` in the header, which is a Python dictionary literal as NumPy writes it.
std::string_view header_value(std::string_view header, std::string_view key, const std::string& where) {
  const std::string quoted_key = "'" + std::string(key) + "':";
  const std::size_t at = header.find(quoted_key);
  refuse_file_if(at == std::string_view::npos, where, "the header has no " + quoted_key);
  return text::trimmed(header.substr(at + quoted_key.size()), " ");
}

Shape parse_shape(std::string_view text, const std::string& where) {
  refuse_file_if(!text.starts_with('(') || text.find(')') == std::string_view::npos, where, "the header has no shape");
  text = text.substr(1, text.find(')') - 1);
  Shape shape;
  for (std::string_view part : split(text, ",")) {
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    if (part.empty()) {
      continue;
    }
    const auto size = text::parsed<std::int64_t>(part);
    refuse_file_if(!size || *size < 0, where, "the header has a shape that is not one of whole numbers");
    shape.push_back(*size);
  }
  refuse_file_if(shape.size() > limits::dimensions, where, "more dimensions than the limit (dimensions)");
  return shape;
}

/// Returns the type that NumPy writes as a letter and a number of bytes: `f` and 4 for float32. Strings have any
/// number.
std::optional<Dtype> dtype_of(char kind, std::size_t size) {
  const std::string_view word = kind == 'i'   ? "int"
                                : kind == 'u' ? "uint"
                                : kind == 'f' ? "float"
                                : kind == 'c' ? "complex"
                                              : "";
  return kind == 'U'                ? std::optional(Dtype::string)
         : kind == 'b' && size == 1 ? std::optional(Dtype::boolean)
                                    : dtype_from_name(std::string(word) + std::to_string(8 * size));
}

/// Copies elements of `item` bytes from Fortran order into C order.
std::string to_c_order(std::string_view elements, const Shape& shape, std::size_t item) {
  std::string ordered(elements.size(), '\0');
  std::vector<std::uint64_t> index(shape.size());
  const std::size_t count = item == 0 ? 0 : elements.size() / item;
  for (std::size_t to = 0; to < count; ++to) {
    std::uint64_t from = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from = from * static_cast<std::uint64_t>(shape[axis]) + index[axis];
    }
    std::memcpy(ordered.data() + to * item, elements.data() + from * item, item);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < static_cast<std::uint64_t>(shape[axis])) {
        break;
      }
      index[axis] = 0;
    }
  }
  return ordered;
}

void swap_bytes(std::string& elements, std::size_t unit) {
  for (std::size_t at = 0; unit > 1 && at + unit <= elements.size(); at += unit) {
    std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(at),
                 elements.begin() + static_cast<std::ptrdiff_t>(at + unit));
  }
}

/// The most empty strings that are made from a shape alone.
constexpr std::uint64_t most_empty_strings = std::uint64_t{1} << 20;

/// Fixed-width UTF-32, padded with zeros.
std::vector<std::byte> strings_of(std::string_view elements, std::size_t item, const std::string& where) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + item <= elements.size() && item > 0; at += item) {
    std::string text;
    std::size_t used = 0;
    for (std::size_t i = 0; i < item; i += 4) {
      std::uint32_t point = 0;
      std::memcpy(&point, elements.data() + at + i, sizeof point);
      refuse_file_if(point > 0x10FFFF || (point >= 0xD800 && point < 0xE000), where,
                     "holds a string that is not Unicode");
      append_utf8(text, point);
      used = point != 0 ? text.size() : used;
    }
    text.resize(used);
    append_string(bytes, text);
  }
  return bytes;
}

/// What the header says.
struct Header {
  Dtype dtype = Dtype::float64;
  Shape shape;
  std::string_view type;  ///< In NumPy's letters; borrowed.
  std::size_t item = 0;   ///< Bytes of an element in the file.
  bool fortran_order = false;
};

/// Far more than NumPy itself reads.
constexpr std::size_t most_header_bytes = std::size_t{1} << 20;

/// Bytes before the elements; nullopt if the file is too short to tell.
std::optional<std::size_t> npy_header_bytes(std::string_view file, const std::string& where) {
  constexpr std::string_view magic = "\x93NUMPY";
  refuse_file_if(file.substr(0, magic.size()) != magic.substr(0, file.size()), where, "not a .npy file");
  if (file.size() < 10) {
    return std::nullopt;
  }
  const std::size_t version = static_cast<unsigned char>(file[6]);
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  refuse_file_if(version < 1 || version > 3, where,
                 "version " + std::to_string(version) + " of the .npy format is not known");
  if (file.size() < 8 + length_bytes) {
    return std::nullopt;
  }
  std::uint32_t length = 0;
  std::memcpy(&length, file.data() + 8, length_bytes);
  refuse_file_if(length > most_header_bytes, where, "the header is longer than 1 MiB");
  return 8 + length_bytes + length;
}

/// `header`: everything before the elements.
Header parse_header(std::string_view header, const std::string& where) {
  const std::string_view descr = header_value(header, "descr", where);
  if (descr.starts_with('[')) {
    refuse_type(where, "with fields");
  }
  const std::size_t end = descr.starts_with('\'') ? descr.find('\'', 1) : std::string_view::npos;
  refuse_file_if(end == std::string_view::npos, where, "the header has no element type");
  Header parsed;
  parsed.type = descr.substr(1, end - 1);
  const std::string_view type = parsed.type;
  const bool ordered = type.size() > 2 && std::string_view("<>|=").find(type[0]) != std::string_view::npos;
  const auto size = ordered ? text::parsed<std::size_t>(type.substr(2)) : std::nullopt;
  const std::optional<Dtype> dtype = size ? dtype_of(type[1], *size) : std::nullopt;
  if (!dtype || *size > (std::size_t{1} << 30)) {
    refuse_type(where, single_quoted(type.substr(0, 40)));
  }
  parsed.dtype = *dtype;
  parsed.shape = parse_shape(header_value(header, "shape", where), where);
  parsed.item = parsed.dtype == Dtype::string ? 4 * *size : item_size(parsed.dtype);
  parsed.fortran_order = header_value(header, "fortran_order", where).starts_with("True");
  return parsed;
}

}  // namespace

void refuse_file_if(bool damaged, const std::string& where, std::string_view why) {
  if (damaged) {
    throw ReadError({ProblemKind::damaged, where, {}, std::string(why)});
  }
}

TensorValue Array::value() && {
  const auto kept = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return {dtype, std::move(shape), {kept, kept->data()}, kept->size()};
}

TensorValue number_value(double number) {
  const auto kept = std::make_shared<const double>(number);
  return {Dtype::float64, {}, {kept, reinterpret_cast<const std::byte*>(kept.get())}, sizeof number};
}

std::optional<NpyHeader> npy_header(std::string_view beginning, const std::string& where) {
  const std::optional<std::size_t> header_bytes = npy_header_bytes(beginning, where);
  if (!header_bytes || beginning.size() < *header_bytes) {
    return std::nullopt;
  }
  Header header = parse_header(beginning.substr(0, *header_bytes), where);
  const std::optional<std::uint64_t> count = element_count(header.shape);
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  refuse_file_if(!count || (header.item != 0 && *count > most / header.item), where,
                 "its shape " + to_string(header.shape) + " is too large");
  const bool as_saved =
      header.dtype != Dtype::string && header.type[0] != '>' && (!header.fortran_order || header.shape.size() <= 1);
  return NpyHeader{header.dtype, std::move(header.shape), *header_bytes, *header_bytes + *count * header.item,
                   as_saved};
}

TensorValue parse_npy(std::string_view file, const std::string& where, const Owner& owner) {
  const std::optional<std::size_t> header_bytes = npy_header_bytes(file, where);
  refuse_file_if(!header_bytes, where, "not a .npy file");
  refuse_file_if(*header_bytes > file.size(), where, "the file ends within its header");
  const Header header = parse_header(file.substr(0, *header_bytes), where);
  const auto& [dtype, shape, type, item, fortran_order] = header;
  std::string_view elements = file.substr(*header_bytes);
  std::string changed;  // the elements if they had to be converted; large arrays are not copied for nothing
  const std::optional<std::uint64_t> count = element_count(shape);
  refuse_file_if(
      !count || (item == 0 ? !elements.empty() : elements.size() / item != *count || elements.size() % item != 0),
      where,
      "its shape " + to_string(shape) + " and its " + std::to_string(elements.size()) + " bytes of " +
          single_quoted(type) + " do not fit each other");
  if (type[0] == '>') {
    changed = elements;
    swap_bytes(changed, dtype == Dtype::string ? 4 : is_complex(dtype) ? item / 2 : item);
    elements = changed;
  }
  if (fortran_order && shape.size() > 1) {
    changed = to_c_order(elements, shape, item);
    elements = changed;
  }
  if (dtype == Dtype::string) {
    Array array{dtype, shape, strings_of(elements, item, where)};
    if (item == 0) {  // NumPy's `<U0`: empty strings only, which have no bytes in the file
      refuse_file_if(*count > most_empty_strings, where,
                     "its shape " + to_string(shape) + " asks for more than 2^20 empty strings");
      for (std::uint64_t i = 0; i < *count; ++i) {
        append_string(array.bytes, {});
      }
    }
    return std::move(array).value();
  }
  Owner kept = owner;
  if (!changed.empty() || owner == nullptr) {
    const auto text = std::make_shared<const std::string>(changed.empty() ? std::string(elements) : std::move(changed));
    elements = *text;
    kept = text;
  }
  const auto* const first = reinterpret_cast<const std::byte*>(elements.data());
  return {dtype, shape, {std::move(kept), first}, elements.size()};
}

}  // namespace smd::tool::save
