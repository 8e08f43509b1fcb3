// SPDX-License-Identifier: Apache-2.0
#include "text/words.hpp"

#include <doctest/doctest.h>

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
