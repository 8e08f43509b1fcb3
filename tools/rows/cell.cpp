// SPDX-License-Identifier: Apache-2.0
#include "rows/cell.hpp"

#include "cli/escape.hpp"

namespace smd::tool {

namespace {

template <class Number>
void append_number(std::string& out, Number number, int precision) {
  char text[number_chars];
  out.append(text, write_number(text, number, precision));
}

void append_joined(std::string& out, std::span<const std::int64_t> numbers, std::string_view separator) {
  bool first = true;
  for (const std::int64_t number : numbers) {
    out += first ? "" : separator;
    append_number(out, number, 0);
    first = false;
  }
}

struct TextVisitor {
  std::string& out;
  int precision;

  void operator()(Missing) const { out += "NA"; }
  void operator()(JsonCell) const { out += "NA"; }
  void operator()(PlaceCell) const { out += "NA"; }
  void operator()(CurveCell) const { out += "NA"; }
  void operator()(NumeralCell numeral) const { out += numeral.text; }
  void operator()(std::string_view text) const { out += text; }
  void operator()(ListCell list) const {
    bool first = true;
    for (const std::string& item : list.items) {
      out += first ? "" : ",";
      out += item;
      first = false;
    }
  }
  void operator()(ShapeCell shape) const {
    if (shape.sizes.empty()) {
      out += "scalar";
      return;
    }
    append_joined(out, shape.sizes, "x");
  }
  void operator()(IndexCell index) const { append_joined(out, index.places, ","); }
  template <class Number>
  void operator()(Number number) const {
    append_number(out, number, precision);
  }
};

struct JsonVisitor {
  std::string& out;
  int precision;
  NonFinite style;

  bool operator()(Missing) const {
    out += "null";
    return true;
  }
  bool operator()(JsonCell) const { return (*this)(Missing()); }
  bool operator()(PlaceCell) const { return (*this)(Missing()); }
  bool operator()(CurveCell) const { return (*this)(Missing()); }
  bool operator()(NumeralCell numeral) const {
    out += numeral.text;
    return true;
  }
  bool operator()(std::string_view text) const { return append_json(out, text); }
  bool operator()(ListCell list) const {
    bool valid = true;
    out += '[';
    bool first = true;
    for (const std::string& item : list.items) {
      out += first ? "" : ",";
      valid = append_json(out, item) && valid;
      first = false;
    }
    out += ']';
    return valid;
  }
  bool operator()(ShapeCell shape) const { return append_array(shape.sizes); }
  bool operator()(IndexCell index) const { return append_array(index.places); }
  template <class Number>
  bool operator()(Number number) const {
    char text[number_chars];
    out.append(text, write_json_number(text, number, precision, style));
    return true;
  }
  [[nodiscard]] bool append_array(std::span<const std::int64_t> numbers) const {
    out += '[';
    append_joined(out, numbers, ",");
    out += ']';
    return true;
  }
};

}  // namespace

void append_text(std::string& out, const Cell& cell, int precision) {
  std::visit(TextVisitor{out, precision}, cell.value());
}

bool append_json_cell(std::string& out, const Cell& cell, int precision, NonFinite style) {
  return std::visit(JsonVisitor{out, precision, style}, cell.value());
}

}  // namespace smd::tool
