// SPDX-License-Identifier: Apache-2.0
#include "layout/json_text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

namespace smd::detail::layout {

namespace {

/// Past the string that begins at `start` (its opening quote); the end of the text if it is not closed.
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

/// Listens to nothing but where parsing failed.
class FailurePlace : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*elements*/) override { return true; }
  bool key(string_t& /*value*/) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t /*elements*/) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    place = position == 0 ? 0 : position - 1;
    return false;
  }

  std::optional<std::uint64_t> place;
};

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
  FailurePlace failure;
  nlohmann::json::sax_parse(text.begin(), text.end(), &failure);
  if (!failure.place) {
    return damaged("not valid JSON");
  }
  if (*failure.place >= text.size()) {
    return damaged("the JSON document is cut off", text.size());
  }
  return damaged("not valid JSON from here on", failure.place);
}

std::size_t json_depth(std::string_view text) noexcept {
  std::size_t depth = 0;
  std::size_t deepest = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = string_end(text, i);
      continue;
    }
    if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
    ++i;
  }
  return deepest;
}

}  // namespace smd::detail::layout
