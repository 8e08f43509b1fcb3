// SPDX-License-Identifier: Apache-2.0
#include "wire/flat_json.hpp"

#include "text/number.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace smd::detail::wire;
using Kind = FlatJson::Kind;

namespace {

/// The values with their names: `a.b=1 t="x" n=null l=[1,2] h={0,1,5}`.
std::string told(const FlatJson& values) {
  std::string text;
  for (const FlatJson::Value& value : values.values()) {
    text += (text.empty() ? "" : " ") + std::string(values.name(value)) + "=";
    switch (value.kind) {
      case Kind::number:
        text += std::isnan(value.number)   ? "nan"
                : std::isinf(value.number) ? "inf"
                                           : std::to_string(static_cast<int>(value.number));
        text += value.whole ? "w" : "";
        break;
      case Kind::null:
        text += "null";
        break;
      case Kind::text:
        text += '"' + std::string(values.text(value)) + '"';
        break;
      case Kind::array:
      case Kind::histogram:
        text += value.kind == Kind::array ? "[" : "{";
        for (const double number : values.numbers(value)) {
          text += std::to_string(static_cast<int>(number)) + ",";
        }
        text += value.kind == Kind::array ? "]" : "}";
        break;
      case Kind::other:
        text += "other";
        break;
    }
  }
  return text;
}

std::string flat(std::string_view json) {
  FlatJson values;
  const std::vector<std::string_view> keys = {"k"};
  return values.add(keys, json) ? told(values) : "no JSON";
}

}  // namespace

TEST_CASE("values of JSON are flat") {
  CHECK(flat("12") == "k=12w");
  CHECK(flat("-3.0e0") == "k=-3");
  CHECK(flat("true") == "k=1");
  CHECK(flat("null") == "k=null");
  CHECK(flat("NaN") == "k=nan");
  CHECK(flat("\"-Infinity\"") == "k=inf");
  for (const char* const quoted : {"\"nan\"", "\"NAN\"", "\"-nan\"", "\"+NaN\""}) {
    CHECK_MESSAGE(flat(quoted) == "k=nan", quoted);
  }
  for (const char* const quoted : {"\"inf\"", "\"-Inf\"", "\"+INF\"", "\"infinity\"", "\"-INFINITY\""}) {
    CHECK_MESSAGE(flat(quoted) == "k=inf", quoted);
  }
  for (const char* const text : {"\"nan(1)\"", "\"info\"", "\" nan\"", "\"+-inf\"", "\"1\"", "\"\""}) {
    CHECK_MESSAGE(flat(text).starts_with("k=\""), text);
  }
  CHECK(flat("\"x\"") == "k=\"x\"");
  CHECK(flat("[1, true, 3]") == "k=[1,1,3,]");
  CHECK(flat(R"({"\ud83d": 1, "a": "\udc00"})") == "k.\uFFFD=1w k.a=\"\uFFFD\"");
  CHECK(flat("[]") == "k=other");
  CHECK(flat("[[1]]") == "k=other");
  CHECK(flat(R"({"a": {"b": 1, "c": "y"}, "d": 2.5})") == "k.a.b=1w k.a.c=\"y\" k.d=2");
  for (const char* bad : {"", "0.5.5", "01", ".5", "1.", "1}, {\"\": 2", "1, \"x\": 2", "{", "nan", "\"a"}) {
    CHECK_MESSAGE(flat(bad) == "no JSON", bad);
  }
}

TEST_CASE("what stands below a _type is a histogram, or left out") {
  FlatJson values;
  using Keys = std::vector<std::string_view>;
  const auto add = [&](const Keys& keys, std::string_view json) { CHECK(values.add(keys, json)); };
  add({"h", "values"}, "[5, 6]");
  add({"h", "_type"}, "\"histogram\"");
  add({"h", "bins"}, "[0, 1, 3]");
  add({"p"}, R"({"packedBins": {"size": 2, "min": 1, "count": 2}, "values": [7, 8], "_type": "histogram"})");
  add({"picture"}, R"({"width": 8, "_type": "image-file", "more": {"_type": "x", "height": 9}})");
  add({"cut"}, R"({"values": [1, 2], "bins": [1, 2], "_type": "histogram"})");
  add({"picture.width"}, "3");
  add({"_type"}, "\"outermost\"");
  CHECK(values.fold_typed() == 1);
  CHECK(told(values) == "picture.width=3w _type=\"outermost\" cut={} h={0,1,5,1,3,6,} p={1,3,7,3,5,8,}");
}

TEST_CASE("numbers of text") {
  using smd::text::number_of;
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(number_of("+2.5e-3") == 0.0025);
  CHECK(number_of("1.") == 1.0);
  CHECK(number_of(".5") == 0.5);
  CHECK(number_of("-INF") == -infinity);
  CHECK(number_of("1e400") == infinity);
  CHECK(number_of("-1e-400") == 0.0);
  CHECK(std::isnan(number_of("nan").value()));
  for (const char* text : {"", "+", "+-1", "1_0", "0x10", "1,5", "abc", "1 "}) {
    CHECK_MESSAGE(!number_of(text), text);
  }
  CHECK_FALSE(smd::text::logged_text("N/A").logged);
  CHECK(smd::text::logged_text("True").number == 1.0);
  CHECK(smd::text::logged_text("x").logged);
}

TEST_CASE("numbers as C libraries of Microsoft write those that are not finite") {
  using smd::text::logged_text;
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(logged_text("1.#INF").number == infinity);
  CHECK(logged_text("-1.#INF00").number == -infinity);
  CHECK(logged_text("1.#INF00e+000").number == infinity);
  for (const char* const text : {"1.#QNAN", "1.#QNAN0", "-1.#IND", "-1.#IND00", "1.#SNAN", "1.#J", "1.#IO"}) {
    CHECK_MESSAGE(std::isnan(logged_text(text).number.value_or(0)), text);
  }
  for (const char* const text : {"1.#", "1.#x", "2.#INF", "1.#INF x", "--1.#INF"}) {
    CHECK_MESSAGE(!logged_text(text).number, text);
  }
}
