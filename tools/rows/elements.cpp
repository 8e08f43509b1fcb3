// SPDX-License-Identifier: Apache-2.0
#include "rows/elements.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cli/text.hpp"

namespace smd::tool {

namespace {

std::string repaired(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const CodePoint point = first_character(text);
    append_utf8(result, point.valid ? point.value : U'\uFFFD');
    text.remove_prefix(point.bytes);
  }
  return result;
}

}  // namespace

Elements::Elements(const TensorView& view, NotText not_text) : view_(view), strings_(strings(view)) {
  for (std::string_view& text : strings_) {
    if (!valid_utf8(text)) {
      const bool sized = not_text == NotText::sized || !media_extension(text).empty();
      sized_ = sized_ || sized;
      text = repaired_.emplace_back(sized ? "(" + std::to_string(text.size()) + " bytes)" : repaired(text));
    }
  }
}

std::string_view media_extension(std::string_view bytes) noexcept {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> signatures = {
      {{"\x89PNG\r\n\x1A\n", "png"}, {"\xFF\xD8\xFF", "jpg"}, {"GIF87a", "gif"}, {"GIF89a", "gif"}}};
  for (const auto& [start, extension] : signatures) {
    if (bytes.starts_with(start)) {
      return extension;
    }
  }
  const bool wav =
      bytes.starts_with("RIFF") && bytes.substr(std::min<std::size_t>(bytes.size(), 8)).starts_with("WAVE");
  return wav ? "wav" : "";
}

std::vector<std::int64_t> index_of(std::uint64_t place, std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = static_cast<std::int64_t>(place % static_cast<std::uint64_t>(shape[axis]));
    place /= static_cast<std::uint64_t>(shape[axis]);
  }
  return index;
}

Cell element_cell(double number, Dtype dtype) {
  return visit_element_type(
      dtype, [number]<class Stored>(std::type_identity<Stored>) { return element_cell<Stored>(number); });
}

Cell reduced_cell(const ReducedValue& value) {
  switch (value.kind) {
    case ReducedValue::Kind::real:
      return value.real;
    case ReducedValue::Kind::complex:
      return std::complex<double>(value.real, value.imaginary);
    case ReducedValue::Kind::integer:
      if (value.high == 0) {
        return value.low;
      }
      return value.high == -1 && value.low >> 63 != 0 ? Cell(static_cast<std::int64_t>(value.low)) : Cell();
    case ReducedValue::Kind::undefined:
      break;
  }
  return {};
}

}  // namespace smd::tool
