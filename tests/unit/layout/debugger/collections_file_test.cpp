// SPDX-License-Identifier: Apache-2.0
#include "layout/debugger/collections_file.hpp"

#include "support/padded.hpp"
#include "text/limits.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace layout = smd::detail::layout;
using smd::Mode;
using smd::Problem;

namespace {

smd::detail::Outcome<layout::CollectionsFile> parse(const std::string& text, std::vector<Problem>& notes) {
  smd::detail::ProblemList list(smd::limits::problems_per_file);
  const std::string given = smd::test::padded(text);
  auto file = layout::parse_collections_file(std::as_bytes(std::span(given)), list);
  notes = list.all();
  return file;
}

std::string file_of(std::string_view tensor) {
  return R"({"_meta": {"num_workers": 2}, "collections": {"weights": {"name": "weights", "include_regex": [], "tensor_names": [")" +
         std::string(tensor) + R"("]}}})";
}

auto parse_known(const std::string& text) {
  const std::string given = smd::test::padded(text);
  return layout::known_collections(std::as_bytes(std::span(given)));
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
                              "collection 'c': 'tensor_names' holds 1 entry that is no text of at most 64 KiB");
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
  auto second =
      parse(R"({"collections": {"c": {"tensor_names": ["b", "d"], "include_regex": ["y", "x"]}, "e": {}}})", notes);
  layout::CollectionsUnion united;
  united.add(std::move(first->collections));
  united.add(std::move(second->collections));
  const auto all = united.take();
  CHECK(all.at("c").tensor_names == std::vector<std::string>{"a", "b", "d"});
  CHECK(all.at("c").include_regex == std::vector<std::string>{"x", "y"});
  CHECK(all.contains("e"));
}

TEST_CASE("the entries of a list that are no texts are one problem with a count") {
  std::vector<Problem> notes;
  const auto file = parse(R"({"collections": {"c": {"tensor_names": [0, "a", null, []]}}})", notes);
  REQUIRE(file);
  CHECK(file->collections.at("c").tensor_names == std::vector<std::string>{"a"});
  REQUIRE(notes.size() == 1);
  CHECK(notes.front().text == "collection 'c': 'tensor_names' holds 3 entries that are no texts of at most 64 KiB");
}

TEST_CASE("of a repeated key the last value counts, whatever it is") {
  std::vector<Problem> notes;
  const auto file = parse(R"({"collections": {"gone": {}}, "_meta": {"num_workers": 1}, "collections": {
      "c": {"name": "first", "tensor_names": ["x"], "tensor_names": ["y"], "name": "c", "save_histogram": true,
            "save_histogram": null, "include_regex": ["p"], "include_regex": null,
            "reduction_config": {"save_shape": true}, "reduction_config": {"reductions": "min"},
            "save_config": {"TRAIN": {"save_interval": 3}, "TRAIN": {"start_step": 4}, "EVAL": {}, "EVAL": 0}},
      "d": {}, "d": {"tensor_names": ["z"]}}, "_meta": {"num_workers": 2, "num_workers": 5}})",
                          notes);
  REQUIRE(file);
  CHECK(notes.empty());
  CHECK(file->num_workers == 5);
  CHECK(file->collections.size() == 2);
  CHECK(file->collections.at("d").tensor_names == std::vector<std::string>{"z"});
  const smd::Collection& c = file->collections.at("c");
  CHECK(c.tensor_names == std::vector<std::string>{"y"});
  CHECK(c.include_regex.empty());
  CHECK_FALSE(c.save_histogram);
  CHECK(c.reduction_config == smd::ReductionConfig{false, false, {"min"}});
  const smd::SaveConfigMode train{500, {}, 4, std::nullopt};
  CHECK(c.save_config == std::map<Mode, smd::SaveConfigMode>{{Mode::train, train}});
}

TEST_CASE("values of another kind than they must be cost themselves") {
  std::vector<Problem> notes;
  const auto file = parse(R"({"collections": {"a": {"name": [], "tensor_names": {"x": ["y"]}, "include_regex": "p",
      "save_histogram": {}, "reduction_config": {"save_shape": [], "reductions": ["min"], "save_raw_tensor": 1},
      "save_config": {"TRAIN": {"save_interval": {}, "save_steps": [1, "2", null, [3], 4.5], "end_step": "x"},
                      "NONE": {}, "EVAL": []}},
      "b": [1, {"c": 2}], "e": 3}, "_meta": {"num_workers": {}}})",
                          notes);
  REQUIRE(file);
  CHECK_FALSE(file->num_workers);
  REQUIRE(file->collections.size() == 1);
  const smd::Collection& a = file->collections.at("a");
  CHECK(a.tensor_names.empty());
  CHECK_FALSE(a.save_histogram);
  CHECK(a.reduction_config == smd::ReductionConfig{});
  const smd::SaveConfigMode train{500, {1, 2}, 0, std::nullopt};
  CHECK(a.save_config == std::map<Mode, smd::SaveConfigMode>{{Mode::train, train}});
  std::vector<std::string> said;
  for (const Problem& note : notes) {
    said.push_back(note.text);
  }
  CHECK(said == std::vector<std::string>{"collection 'a': 'tensor_names' is not a list",
                                         "collection 'a': 'include_regex' is not a list",
                                         "collection 'b' is not an object", "collection 'e' is not an object",
                                         "'num_workers' is no number"});
}

TEST_CASE("equal texts share what was parsed; another text is parsed") {
  const std::string text = file_of("a");
  const auto first = parse_known(text);
  const auto again = parse_known(std::string(text));
  REQUIRE(first);
  REQUIRE(again);
  CHECK((*first)->collections.is((*again)->collections));
  const auto other = parse_known(file_of("b"));
  REQUIRE(other);
  CHECK(!(*first)->collections.is((*other)->collections));
  CHECK((*first)->collections->at("weights").tensor_names == std::vector<std::string>{"a"});
  CHECK((*other)->collections->at("weights").tensor_names == std::vector<std::string>{"b"});
  CHECK((*other)->num_workers == 2);
  // A text that begins like the last one is another one.
  CHECK(!parse_known(file_of("b").substr(0, 20)));
  CHECK(!parse_known(""));
  const auto after = parse_known(file_of("b"));
  REQUIRE(after);
  CHECK((*after)->collections->contains("weights"));
}

TEST_CASE("a text with harmless problems has them each time") {
  const std::string text = R"({"collections": {"w": {"name": "w", "tensor_names": [1, "a"]}}})";
  const auto first = parse_known(text);
  const auto again = parse_known(text);
  REQUIRE(first);
  REQUIRE(again);
  REQUIRE(!(*first)->notes.empty());
  CHECK((*again)->notes.size() == (*first)->notes.size());
  CHECK((*again)->notes.front().text == (*first)->notes.front().text);
}
