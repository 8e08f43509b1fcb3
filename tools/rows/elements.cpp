// SPDX-License-Identifier: Apache-2.0
#include "rows/elements.hpp"

#include "cli/text.hpp"

namespace smd::tool {

namespace {

std::string repaired(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const DecodedCharacter point = decode_utf8(text);
    append_utf8(result, point.valid ? point.value : U'\uFFFD');
    text.remove_prefix(point.size);
  }
  return result;
}

}  // namespace

Elements::Elements(const TensorView& view, NotText not_text)
    : view_(view), item_(item_size(view.dtype())), float8_(float8_numbers(view.dtype())), strings_(strings(view)) {
  for (std::string_view& text : strings_) {
    if (!is_utf8(text)) {
      text = repaired_.emplace_back(not_text == NotText::sized ? "(" + std::to_string(text.size()) + " bytes)"
                                                               : repaired(text));
    }
  }
}

}  // namespace smd::tool
