// SPDX-License-Identifier: Apache-2.0
#include "rows/cell.hpp"

#include "cli/escape.hpp"
#include "rows/row_order.hpp"
#include "text/json.hpp"
#include "text/number.hpp"

#include <fmt/chrono.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <ctime>
#include <utility>

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

// Beyond, there is no date: a record may claim any time.
constexpr double year_0 = -62167219200;
constexpr double year_1 = -62135596800;
constexpr double year_10000 = 253402300800;

std::tm utc(double whole_seconds) { return fmt::gmtime(static_cast<std::time_t>(whole_seconds)); }

std::string date_text(double seconds_since_1970) {
  const double whole = std::floor(seconds_since_1970);
  if (!(whole >= year_0 && whole < year_10000)) {
    return number_text(seconds_since_1970);
  }
  const std::tm at = utc(whole);
  return fmt::format("{}-{:02}-{:02} {:02}:{:02}:{:02}Z", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday, at.tm_hour,
                     at.tm_min, at.tm_sec);
}

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

std::string time_text(double seconds_since_1970) {
  constexpr std::int64_t million = 1'000'000;
  if (!(seconds_since_1970 >= year_1 && seconds_since_1970 < year_10000)) {
    return {};
  }
  const double whole = std::floor(seconds_since_1970);
  const std::int64_t micros = std::llround((seconds_since_1970 - whole) * million);
  return fmt::format("{:%FT%T}.{:06}Z", utc(micros == million ? whole + 1 : whole), micros % million);
}

void show_date(std::string& out, const Cell& cell, int precision) {
  if (const auto* seconds = std::get_if<double>(&cell.value())) {
    out += date_text(*seconds);
  } else {
    append_text(out, cell, precision);
  }
}

HpValue::HpValue(std::string json) : json_(std::move(json)), text_(json_) {
  text::JsonDocument<nlohmann::json> value;
  if (text::parse_json(json_, value)) {  // what only Python writes, such as NaN
    json_.clear();
    append_json(json_, text_);
  } else if (value->is_string()) {
    text_ = value->get<std::string>();
  }
}

Cell HpValue::cell(bool for_json) const {
  const char first = json_.empty() ? 'n' : json_.front();
  if (first == 'n') {  // null
    return {};
  }
  if (first == 't' || first == 'f') {
    return first == 't';
  }
  if (first == '"') {
    if (for_json || !text::number_of(text_)) {
      return text_;
    }
    const std::optional<double> non_finite = text::quoted_non_finite_of(text_);
    return non_finite ? Cell(*non_finite) : Cell(NumeralCell{text_});
  }
  return NumeralCell{json_};
}

bool HpValue::operator==(const HpValue& other) const {
  const bool numbers = text::number_of(text_) && text::number_of(other.text_);
  return text_ == other.text_ || (numbers && SortValue(cell()).compare(SortValue(other.cell()), false) == 0);
}

}  // namespace smd::tool
