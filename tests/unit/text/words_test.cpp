// SPDX-License-Identifier: Apache-2.0
#include "text/words.hpp"

#include <doctest/doctest.h>

using smd::text::append_part;
using smd::text::counted;
using smd::text::listed;
using smd::text::Side;
using smd::text::side_of_word;
using smd::text::split_words;
using Words = std::vector<std::string>;

TEST_CASE("a name is split at its separators") {
  CHECK(split_words("train/epoch_loss") == Words{"train", "epoch", "loss"});
  CHECK(split_words("lm loss-validation.x\ty") == Words{"lm", "loss", "validation", "x", "y"});
  CHECK(split_words("//a__b ") == Words{"a", "b"});
  CHECK(split_words("").empty());
  CHECK(split_words("._-").empty());
}

TEST_CASE("a name is split where camel case begins a word") {
  CHECK(split_words("valLoss") == Words{"val", "loss"});
  CHECK(split_words("L2Norm") == Words{"l2", "norm"});
  CHECK(split_words("layer1Weight") == Words{"layer1", "weight"});
  CHECK(split_words("HTTPError") == Words{"http", "error"});
  CHECK(split_words("LOSS") == Words{"loss"});
  CHECK(split_words("conv2d") == Words{"conv2d"});
  CHECK(split_words("verlustÄhnlich") == Words{"verlustÄhnlich"});  // ASCII only
}

TEST_CASE("words that name a side") {
  for (const char* word : {"train", "training", "trn"}) {
    CHECK(side_of_word(word, false) == Side::train);
  }
  for (const char* word : {"validation", "valid", "val", "evaluation", "eval", "holdout"}) {
    CHECK(side_of_word(word, false) == Side::eval);
  }
  CHECK(side_of_word("test", true) == Side::test);
  CHECK(side_of_word("dev", true) == Side::eval);
  CHECK(side_of_word("dev", false) == Side::none);  // std_dev
  CHECK(side_of_word("trainer", true) == Side::none);
  CHECK(side_of_word("", true) == Side::none);
}

TEST_CASE("a list shows its first items") {
  CHECK(listed(Words{"a", "b", "c"}, 3) == "a, b, c");
  CHECK(listed(Words{"a", "b", "c"}, 2) == "a, b and 1 more");
  CHECK(listed(std::vector<int>{1, 2, 3, 4}, 1, [](int n) { return std::to_string(n); }) == "1 and 3 more");
  CHECK(listed(Words{}, 2).empty());
}

TEST_CASE("a counted noun takes its plural and its verb") {
  CHECK(counted(1, "step", "is", "are") == "1 step is");
  CHECK(counted(0, "step", "is", "are") == "0 steps are");
  CHECK(counted(2, "row", "has", "have") == "2 rows have");
}

TEST_CASE("parts of a list have a separator between, and none beside an empty part") {
  std::string list;
  append_part(list, "");
  append_part(list, "a");
  append_part(list, "");
  append_part(list, "b");
  append_part(list, "c", " and ");
  CHECK(list == "a, b and c");
}
