// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/json.hpp"
#include "text/json_scanner.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace smd::text {

/// As `read_json`, several times as fast, for JSON whose numbers are all natural. Returns false for any other text, and
/// for damage: then discard what the sink received, and call `read_json`.
template <class Sink>
[[nodiscard]] bool scan_json(std::string_view text, Sink& sink) {
  static_assert(limits::json_depth <= 64);
  if (first_bad_utf8(text) != text.size()) {
    return false;
  }
  JsonScanner scanner(text);
  std::uint64_t objects = 0;  // a bit for each bracket that is open, the innermost lowest: 1 for an object
  std::size_t depth = 0;
  while (true) {
    const JsonKind kind = scanner.peek();
    const bool object = kind == JsonKind::object;
    if (object || kind == JsonKind::array) {
      if (!(object ? scanner.enter_object() : scanner.enter_array())) {
        return false;
      }
      objects = objects << 1 | (object ? 1 : 0);
      ++depth;
      sink.open(object ? JsonContainer::object : JsonContainer::array);
    } else if (kind == JsonKind::string) {
      std::string_view value;
      if (!scanner.string(value)) {
        return false;
      }
      sink.value(std::string(value));
    } else if (kind == JsonKind::number) {
      JsonNumber number;
      if (!scanner.number(number) || !number.is_natural) {
        return false;
      }
      sink.value(number.natural);
    } else {
      const std::size_t begin = scanner.offset();
      if (!scanner.skip()) {
        return false;
      }
      if (kind == JsonKind::null) {
        sink.value(nullptr);
      } else {
        sink.value(text[begin] == 't');
      }
    }
    for (std::string_view key;; objects >>= 1) {  // advances to the next value, leaving brackets that end
      if (depth == 0) {
        return scanner.finish();
      }
      if ((objects & 1) == 0 ? scanner.next_item() : scanner.next_member(key)) {
        if ((objects & 1) != 0) {
          sink.key(std::string(key));
        }
        break;
      }
      if (scanner.failed()) {
        return false;
      }
      --depth;
      sink.close();
    }
  }
}

}  // namespace smd::text
