// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/known_collections.hpp"

#include "support/padded.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>

using namespace smd::detail;
using layout::known_collections;

namespace {

std::string file_of(std::string_view tensor) {
  return R"({"_meta": {"num_workers": 2}, "collections": {"weights": {"name": "weights", "include_regex": [], "tensor_names": [")" +
         std::string(tensor) + R"("]}}})";
}

auto parse(std::string text) {
  const std::string given = smd::test::padded(std::move(text));
  return known_collections(std::as_bytes(std::span(given)));
}

}  // namespace

TEST_CASE("equal texts share what was parsed; another text is parsed") {
  const std::string text = file_of("a");
  const auto first = parse(text);
  const auto again = parse(std::string(text));
  REQUIRE(first);
  REQUIRE(again);
  CHECK((*first)->collections.is((*again)->collections));
  const auto other = parse(file_of("b"));
  REQUIRE(other);
  CHECK(!(*first)->collections.is((*other)->collections));
  CHECK((*first)->collections->at("weights").tensor_names == std::vector<std::string>{"a"});
  CHECK((*other)->collections->at("weights").tensor_names == std::vector<std::string>{"b"});
  CHECK((*other)->num_workers == 2);
  // A text that begins like the last one is another one.
  CHECK(!parse(file_of("b").substr(0, 20)));
  CHECK(!parse(""));
  const auto after = parse(file_of("b"));
  REQUIRE(after);
  CHECK((*after)->collections->contains("weights"));
}

TEST_CASE("a text with harmless problems has them each time") {
  const std::string text = R"({"collections": {"w": {"name": "w", "tensor_names": [1, "a"]}}})";
  const auto first = parse(text);
  const auto again = parse(text);
  REQUIRE(first);
  REQUIRE(again);
  REQUIRE(!(*first)->notes.empty());
  CHECK((*again)->notes.size() == (*first)->notes.size());
  CHECK((*again)->notes.front().text == (*first)->notes.front().text);
}
