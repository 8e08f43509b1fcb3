// SPDX-License-Identifier: Apache-2.0
#include "text/nearest.hpp"

#include <doctest/doctest.h>

namespace smd::detail {
namespace {

using Texts = std::vector<std::string>;

Texts near(std::string_view typed, const std::vector<std::string_view>& names) { return nearest(typed, names, 3); }

}  // namespace

TEST_CASE("insertions, deletions, changes and swaps of neighbours count one each") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("loss", "LOSS") == 0);
  CHECK(edit_distance("los", "loss") == 1);
  CHECK(edit_distance("losss", "loss") == 1);
  CHECK(edit_distance("lost", "loss") == 1);
  CHECK(edit_distance("lsos", "loss") == 1);
  CHECK(edit_distance("", "bias") == 4);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("ca", "abc") == 3);  // a swapped pair is not edited again
}

TEST_CASE("names with a typing error, best first") {
  CHECK(near("wieght", {"weight", "bias"}) == Texts{"weight"});
  CHECK(near("layer1.weight", {"layer2.weight", "layer1.weights", "layer12.weights", "bias"}) ==
        Texts{"layer1.weights", "layer2.weight", "layer12.weights"});
  CHECK(near("LOSS", {"loss"}) == Texts{"loss"});
}

TEST_CASE("names that contain the typed text") {
  CHECK(near("conv1", {"net/block/conv1/kernel:0", "dense"}) == Texts{"net/block/conv1/kernel:0"});
}

TEST_CASE("names with a part similar to the typed text, at any position") {
  const std::vector<std::string_view> names = {"layer1.0.relu1_output_0", "relu1_output_0", "relu_input", "bias"};
  CHECK(nearest_holding("relu_output", names) == Texts{"relu1_output_0", "layer1.0.relu1_output_0"});
  CHECK(nearest_holding("RELU_OUTPUT", names, 1) == Texts{"relu1_output_0"});
  CHECK(nearest_holding("gradient", names).empty());
  CHECK(nearest_holding("bi", names).empty());  // two letters resemble anything
}

TEST_CASE("at most the requested number, in an order independent of the input's") {
  CHECK(near("ab1", {"ab5", "ab4", "ab3", "ab2"}) == Texts{"ab2", "ab3", "ab4"});
  CHECK(nearest("ab1", std::vector<std::string_view>{"ab3", "ab2"}, 1) == Texts{"ab2"});
  CHECK(nearest("ab1", Texts{"ab3", "ab2"}, 1) == Texts{"ab2"});
}

TEST_CASE("dissimilar names are not near") {
  CHECK(near("loss", {"gradient/fc.weight"}).empty());
  CHECK(near("x", {}).empty());
  CHECK(near("", {"a", "b"}).empty());
  CHECK(near("xy", {"ab"}).empty());  // two errors in two letters: a different word
}

TEST_CASE("very long or very many names are not compared") {
  const std::string typed(250, 'a');
  const std::string other(250, 'b');
  const std::vector<std::string_view> many(200'000, other);  // 250 * 250 * 200,000 comparisons would take minutes
  CHECK(near(typed, many).empty());
  CHECK(near(std::string(100'000, 'a'), {other}).empty());
}

}  // namespace smd::detail
