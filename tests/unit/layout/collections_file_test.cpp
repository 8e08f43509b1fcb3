// SPDX-License-Identifier: Apache-2.0
#include "layout/collections_file.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace layout = smd::detail::layout;
using smd::Mode;
using smd::Problem;

namespace {

smd::detail::Outcome<layout::CollectionsFile> parse(const std::string& text, std::vector<Problem>& notes) {
  return layout::parse_collections_file(std::as_bytes(std::span(text)), notes);
}

}  // namespace

TEST_CASE("a collections file with all it can hold") {
  std::vector<Problem> notes;
  const auto file = parse(R"({"collections": {"weights": {"name": "weights",
      "include_regex": ["^(?!gradient).*weight"], "tensor_names": ["b", "a"],
      "reduction_config": {"save_raw_tensor": true, "reductions": "max,l2_norm,abs_mean", "save_shape": false},
      "save_config": {"TRAIN": {"save_interval": 5, "save_steps": [3, 7], "start_step": 2, "end_step": null},
                      "EVAL": {"save_interval": 1, "save_steps": [], "start_step": 0, "end_step": 9}},
      "save_histogram": true}}, "_meta": {"num_workers": "4"}})",
                          notes);
  REQUIRE(file);
  CHECK(notes.empty());
  CHECK(file->num_workers == 4);
  const smd::Collection& weights = file->collections.at("weights");
  CHECK(weights.tensor_names == std::vector<std::string>{"a", "b"});
  CHECK(weights.include_regex == std::vector<std::string>{"^(?!gradient).*weight"});
  REQUIRE(weights.reduction_config);
  CHECK(weights.reduction_config->save_raw_tensor);
  CHECK(weights.reduction_config->reductions == std::vector<std::string>{"max", "l2_norm", "abs_mean"});
  const smd::SaveConfigMode train{5, {3, 7}, 2, std::nullopt};
  const smd::SaveConfigMode eval{1, {}, 0, 9};
  CHECK(weights.save_config == std::map<Mode, smd::SaveConfigMode>{{Mode::train, train}, {Mode::eval, eval}});
  CHECK(weights.save_histogram == true);
}

TEST_CASE("what is missing, null or unknown is no damage") {
  std::vector<Problem> notes;
  const auto file = parse(R"({"collections": {"x": {"name": "x", "tensor_names": null, "include_regex": null,
      "save_config": null, "reduction_config": null}, "y": {}}, "more": [1, 2]})",
                          notes);
  REQUIRE(file);
  CHECK(notes.empty());
  CHECK_FALSE(file->num_workers);
  CHECK(file->collections.size() == 2);
  CHECK(file->collections.at("x").tensor_names.empty());
}

TEST_CASE("a collection goes by its own name") {
  std::vector<Problem> notes;
  const auto file = parse(R"({"collections": {"key": {"name": "own"}}})", notes);
  REQUIRE(file);
  CHECK(file->collections.contains("own"));
  CHECK_FALSE(file->collections.contains("key"));
  CHECK(notes.size() == 1);
}

TEST_CASE("half a surrogate pair costs the name that has it, and no other") {
  const auto parsed = [](const std::string& text, const std::string& said) {
    std::vector<Problem> notes;
    const auto file = parse(text, notes);
    REQUIRE(file);
    CHECK(file->num_workers == 3);
    REQUIRE(notes.size() == 1);
    CHECK(notes.front().kind == smd::ProblemKind::damaged);
    CHECK(notes.front().text == said);
    return file->collections;
  };
  const std::string meta = R"(, "_meta": {"num_workers": 3}})";
  const auto of_name = parsed(R"({"collections": {"c": {"tensor_names": ["x", "y\ud800", "\ud83d\ude00"]}})" + meta,
                              "collection 'c': 'tensor_names' holds something else than texts of at most 64 KiB");
  CHECK(of_name.at("c").tensor_names == std::vector<std::string>{"x", "\xF0\x9F\x98\x80"});
  const std::string elsewhere = "a text with half a surrogate pair, or a number beyond a double, is left out";
  const auto of_key = parsed(R"({"collections": {"\udc00" : {"name": "\udc00"}, "c": {}})" + meta, elsewhere);
  CHECK(of_key.size() == 1);
  CHECK(of_key.contains("c"));
  CHECK(parsed(R"({"collections": {"c": {}}, "more": [1e400, "\ud800"])" + meta, elsewhere).contains("c"));
}

TEST_CASE("what is not a collections file is damaged") {
  std::string deep = R"({"collections": {}, "x": )" + std::string(100000, '[');
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("null"), std::string("[]"), std::string(R"({"collections": [)"),
        std::string(R"({"collections": 3})"), std::string(R"({"collections": {}} {})"), deep}) {
    CAPTURE(text.substr(0, 60));
    std::vector<Problem> notes;
    const auto file = parse(text, notes);
    REQUIRE_FALSE(file);
    CHECK(file.problem().kind == smd::ProblemKind::damaged);
  }
}

TEST_CASE("files of several workers are united") {
  std::vector<Problem> notes;
  auto first = parse(R"({"collections": {"c": {"tensor_names": ["a", "b"], "include_regex": ["x"]}}})", notes);
  const auto second =
      parse(R"({"collections": {"c": {"tensor_names": ["b", "d"], "include_regex": ["y", "x"]}, "e": {}}})", notes);
  layout::merge_collections(first->collections, second->collections);
  CHECK(first->collections.at("c").tensor_names == std::vector<std::string>{"a", "b", "d"});
  CHECK(first->collections.at("c").include_regex == std::vector<std::string>{"x", "y"});
  CHECK(first->collections.contains("e"));
}
