// SPDX-License-Identifier: Apache-2.0
// Headers that library and commands share: JSON of bounded depth, and quotations in messages.
#include "text/json.hpp"

#include "text/escape.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

// ThreadSanitizer does not allow replacing its operators; AddressSanitizer sees memory that simdjson took by its own.
#ifdef __has_feature
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SMD_OPERATORS_ARE_TAKEN
#endif
#endif

#ifndef SMD_OPERATORS_ARE_TAKEN
namespace {

thread_local bool memory_is_out = false;

}  // namespace

// NOLINTBEGIN: replaces the global operators
void* operator new(std::size_t bytes) {
  void* const memory = memory_is_out ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
  return memory != nullptr ? memory : throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND
#endif

namespace smd::test {
namespace {

using nlohmann::json;
using text::JsonDocument;
using text::JsonFault;

std::optional<text::JsonError> parse(std::string_view text, JsonDocument<json>& document) {
  return text::parse_json(text, document);
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST_CASE("JSON is accepted down to 64 levels, and no deeper") {
  JsonDocument<json> document;
  CHECK_FALSE(parse(nested(64), document));
  JsonDocument<json> refused;
  for (const std::size_t depth : {65, 100'000}) {
    const auto error = parse(nested(depth), refused);
    REQUIRE(error);
    CHECK(error->fault == JsonFault::too_deep);
  }
  JsonDocument<json> objects;
  std::string text;
  for (int level = 0; level < 65; ++level) {
    text += R"({"a": )";
  }
  CHECK(parse(text, objects)->fault == JsonFault::too_deep);
}

TEST_CASE("errors in JSON, with their place") {
  struct Case {
    const char* text;
    JsonFault fault;
    std::uint64_t offset;
  };
  for (const Case& one : {Case{"", JsonFault::cut_off, 0}, Case{"[1, ", JsonFault::cut_off, 4},
                          Case{"[1 2]", JsonFault::malformed, 3}, Case{"{} {}", JsonFault::malformed, 3}}) {
    CAPTURE(one.text);
    JsonDocument<json> document;
    const auto error = parse(one.text, document);
    REQUIRE(error);
    CHECK(error->fault == one.fault);
    CHECK(error->offset == one.offset);
  }
  JsonDocument<json> document;
  const auto beyond = parse("[1e999]", document);
  REQUIRE(beyond);
  CHECK(beyond->fault == JsonFault::number);
  CHECK(beyond->number == "1e999");
}

TEST_CASE("a document equals its text; the last value of a repeated key counts") {
  JsonDocument<json> document;
  REQUIRE_FALSE(
      parse(R"({"a": [1, [2], {"b": "c"}], "a": {"d": [null, true, -3, 2.5]}, "e": 18446744073709551615})", document));
  CHECK(*document == json({{"a", {{"d", {nullptr, true, -3, 2.5}}}}, {"e", UINT64_MAX}}));
}

#ifndef SMD_OPERATORS_ARE_TAKEN
TEST_CASE("a document is destroyed without memory") {
  auto document = std::make_unique<JsonDocument<json>>();
  REQUIRE_FALSE(parse(R"([[[1, 2], {"a": [3, {}]}], {"b": {"c": [[], [4]]}}])", *document));
  memory_is_out = true;
  document.reset();
  memory_is_out = false;
  auto ordered = std::make_unique<JsonDocument<nlohmann::ordered_json>>();
  REQUIRE_FALSE(text::parse_json(R"({"b": {"c": [[], [4]]}, "a": [1]})", *ordered));
  memory_is_out = true;
  ordered.reset();
  memory_is_out = false;
}
#endif

TEST_CASE("a message quotes a line of a value") {
  JsonDocument<json> document;
  REQUIRE_FALSE(parse(R"({"a": [1, "x\n", null], "b": {}})", document));
  CHECK(text::json_excerpt(*document) == R"({"a":[1,"x\n",null],"b":{}})");
  const json text(std::string(100'000, 'x'));
  CHECK(text::json_excerpt(text, 10) == "\"xxxxxxxxx…");
  const json list(std::vector<int>(1000, 1));
  CHECK(text::json_excerpt(list, 8) == "[1,1,1,1…");
}

TEST_CASE("long texts are quoted by their beginning, in whole characters, and their length") {
  const std::string name(65'536, 'n');
  CHECK(detail::printable(name) == std::string(400, 'n') + "… (65536 bytes)");
  CHECK(detail::printable(name.substr(0, 400)) == name.substr(0, 400));
  CHECK(text::beginning("äöü", 3) == "ä");  // two bytes each
  CHECK(text::beginning("äöü", 4) == "äö");
  CHECK(text::beginning(std::string(10, '\x80'), 5).size() <= 5);  // not UTF-8
}

}  // namespace
}  // namespace smd::test
