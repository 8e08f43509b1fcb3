// SPDX-License-Identifier: Apache-2.0
#include "rows/cell.hpp"

#include "cli/escape.hpp"

#include <cstdlib>

namespace smd::tool {

namespace {

/// Appends a cell. Returns false if a string was to be JSON, but was not UTF-8.
struct Appender {
  std::string& out;
  int precision;
  std::optional<NonFinite> json;  // nullopt: plain text

  bool operator()(Missing) const { return add(json ? "null" : "NA"); }
  bool operator()(JsonCell) const { return (*this)(Missing()); }
  bool operator()(PlaceCell) const { return (*this)(Missing()); }
  bool operator()(CurveCell) const { return (*this)(Missing()); }
  bool operator()(NumeralCell numeral) const { return add(numeral.text); }
  bool operator()(std::string_view text) const { return json ? append_json(out, text) : add(text); }
  bool operator()(const std::string& text) const { return (*this)(std::string_view(text)); }
  bool operator()(ListCell list) const { return add_list(list.items, ","); }
  bool operator()(ShapeCell shape) const {
    return shape.sizes.empty() && !json ? add("scalar") : add_list(shape.sizes, json ? "," : "x");
  }
  bool operator()(IndexCell index) const { return add_list(index.places, ","); }
  template <class Number>
  bool operator()(Number number) const {
    char text[number_chars];
    const char* const end =
        json ? write_json_number(text, number, precision, *json) : write_number(text, number, precision);
    return add({text, end});
  }

 private:
  [[nodiscard]] bool add(std::string_view text) const {
    out += text;
    return true;
  }
  template <class Item>
  [[nodiscard]] bool add_list(std::span<const Item> items, std::string_view separator) const {
    bool valid = true;
    out += json ? "[" : "";
    for (std::size_t i = 0; i < items.size(); ++i) {
      out += i == 0 ? "" : separator;
      valid = (*this)(items[i]) && valid;
    }
    out += json ? "]" : "";
    return valid;
  }
};

}  // namespace

double as_double(const Cell& cell) {
  return std::visit(
      []<class Value>(const Value& value) {
        if constexpr (std::is_same_v<Value, Half> || std::is_same_v<Value, BFloat16>) {
          return static_cast<double>(to_float(value));
        } else if constexpr (std::is_same_v<Value, NumeralCell>) {
          return std::strtod(std::string(value.text).c_str(), nullptr);
        } else if constexpr (std::is_arithmetic_v<Value>) {
          return static_cast<double>(value);
        } else {
          return std::numeric_limits<double>::quiet_NaN();
        }
      },
      cell.value());
}

void append_text(std::string& out, const Cell& cell, int precision) {
  std::visit(Appender{out, precision, std::nullopt}, cell.value());
}

bool append_json_cell(std::string& out, const Cell& cell, int precision, NonFinite style) {
  return std::visit(Appender{out, precision, style}, cell.value());
}

}  // namespace smd::tool
