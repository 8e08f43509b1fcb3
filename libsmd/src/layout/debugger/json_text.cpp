// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <smd/limits.hpp>

#include "text/escape.hpp"

namespace smd::detail::layout {

namespace {

/// Returns the offset after the string whose opening quote is at `start`; the size of the text if it is not closed.
std::size_t string_end(std::string_view json, std::size_t start) noexcept {
  std::size_t i = start + 1;
  while (i < json.size() && json[i] != '"') {
    i += json[i] == '\\' ? 2 : 1;
  }
  return std::min(i + 1, json.size());
}

std::optional<unsigned> unicode_escape(std::string_view text, std::size_t at) noexcept {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') {
    return std::nullopt;
  }
  unsigned code = 0;
  const char* const last = text.data() + at + 6;
  const auto [end, error] = std::from_chars(text.data() + at + 2, last, code, 16);
  return error == std::errc{} && end == last ? std::optional(code) : std::nullopt;
}

bool is_high(unsigned code) noexcept { return code >= 0xD800 && code < 0xDC00; }
bool is_low(unsigned code) noexcept { return code >= 0xDC00 && code < 0xE000; }

bool has_lone_surrogate(std::string_view literal) noexcept {
  for (std::size_t i = 0; i < literal.size(); ++i) {
    if (literal[i] != '\\') {
      continue;
    }
    const std::optional<unsigned> code = unicode_escape(literal, i);
    if (!code) {
      ++i;
      continue;
    }
    if (is_low(*code)) {
      return true;
    }
    i += 5;
    if (is_high(*code)) {
      const std::optional<unsigned> second = unicode_escape(literal, i + 1);
      if (!second || !is_low(*second)) {
        return true;
      }
      i += 6;
    }
  }
  return false;
}

bool in_number(char c) noexcept {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

bool representable(std::string_view number) noexcept {
  const char* const last = number.data() + number.size();
  if (number.find_first_of(".eE") != std::string_view::npos) {
    double value = 0;
    return std::from_chars(number.data(), last, value).ec == std::errc{};
  }
  if (number.starts_with('-')) {
    std::int64_t value = 0;
    return std::from_chars(number.data(), last, value).ec == std::errc{};
  }
  std::uint64_t value = 0;
  return std::from_chars(number.data(), last, value).ec == std::errc{};
}

}  // namespace

std::string blank_out_unrepresentable(std::string_view json) {
  std::string copy(json);
  const auto blank = [&copy](std::size_t first, std::size_t last, std::string_view by) {
    std::fill(copy.begin() + static_cast<std::ptrdiff_t>(first), copy.begin() + static_cast<std::ptrdiff_t>(last), ' ');
    copy.replace(first, by.size(), by);
  };
  for (std::size_t i = 0; i < json.size();) {
    std::size_t end = i + 1;
    if (json[i] == '"') {
      end = string_end(json, i);
      if (has_lone_surrogate(json.substr(i, end - i))) {
        const std::size_t next = json.find_first_not_of(" \t\n\r", end);
        const bool key = next != std::string_view::npos && json[next] == ':';
        blank(i, end, key ? R"("")" : "null");
      }
    } else if (json[i] == '-' || (json[i] >= '0' && json[i] <= '9')) {
      while (end < json.size() && in_number(json[end])) {
        ++end;
      }
      if (end - i >= 4 && !representable(json.substr(i, end - i))) {
        blank(i, end, "null");
      }
    }
    i = end;
  }
  return copy;
}

Problem invalid_json(std::string_view text) {
  text::NoJsonSink nothing;
  const auto error = text::read_json(text, nothing);
  return error ? damaged_json(*error) : damaged("not valid JSON");
}

Problem damaged_json(const text::JsonError& error) {
  switch (error.fault) {
    case text::JsonFault::too_deep:
      return damaged("nested deeper than " + std::to_string(limits::json_depth) + " levels");
    case text::JsonFault::cut_off:
      return damaged("the JSON document is cut off", error.offset);
    case text::JsonFault::number:
      return damaged("the number " + printable(error.number) + " is beyond a double", error.offset);
    case text::JsonFault::malformed:
      break;
  }
  return damaged("not valid JSON from here on", error.offset);
}

}  // namespace smd::detail::layout
