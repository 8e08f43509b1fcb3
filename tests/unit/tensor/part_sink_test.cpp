// SPDX-License-Identifier: Apache-2.0
#include "tensor/part_sink.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace smd::tool::tensor {
namespace {

using Numbers = std::vector<std::int32_t>;

/// The part of `numpy.arange(24).reshape(2, 3, 4)`, which comes in blocks of so many elements.
struct Taken {
  Taken(const char* slice, std::size_t block) {
    Numbers all(24);
    std::iota(all.begin(), all.end(), 0);
    const SliceSpec spec = SliceSpec::parse(slice);
    PartSink sink(spec);
    for (int attempt = 0; attempt < 2; ++attempt) {  // a read that failed begins anew
      REQUIRE(sink.begin(Dtype::int32, {2, 3, 4}));
      const std::size_t end = attempt == 0 ? block : all.size();
      for (std::size_t at = 0; at < end; at += block) {
        CHECK(sink.block(std::as_bytes(std::span(all).subspan(at, std::min(block, all.size() - at)))));
      }
    }
    const TensorValue value = sink.value();
    shape = value.shape();
    numbers.resize(value.bytes().size() / sizeof(std::int32_t));
    if (!numbers.empty()) {
      std::memcpy(numbers.data(), value.bytes().data(), value.bytes().size());
    }
  }

  Shape shape;
  Numbers numbers;
};

}  // namespace

// Expected values are NumPy's.
TEST_CASE("a part is put together from blocks, in whichever order its elements are wanted") {
  for (const std::size_t block : {1, 5, 12, 24}) {
    CAPTURE(block);
    const Taken reversed("::-1,1,::-2", block);
    CHECK(reversed.shape == Shape{2, 2});
    CHECK(reversed.numbers == Numbers{19, 17, 7, 5});
    const Taken last("...,::-1", block);
    CHECK(last.shape == Shape{2, 3, 4});
    CHECK(last.numbers ==
          Numbers{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12, 19, 18, 17, 16, 23, 22, 21, 20});
    CHECK(Taken("1,:,2", block).numbers == Numbers{14, 18, 22});
    CHECK(Taken(":,2:0:-1,1:3", block).numbers == Numbers{9, 10, 5, 6, 21, 22, 17, 18});
    CHECK(Taken("0", block).numbers == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    CHECK(Taken("-1,-1,-1", block).numbers == Numbers{23});
    CHECK(Taken("-1,-1,-1", block).shape.empty());
    CHECK(Taken(":,3:", block).shape == Shape{2, 0, 4});
  }
}

TEST_CASE("a slice that does not fit is said, and strings are left to others") {
  const SliceSpec slice = SliceSpec::parse("3");
  PartSink sink(slice);
  CHECK_FALSE(sink.begin(Dtype::float32, {2}));
  CHECK(sink.misfit() == "index 3 is out of bounds for axis 0 with size 2");
  CHECK_FALSE(sink.begin(Dtype::string, {4}));
  CHECK(sink.has_strings());
  CHECK_FALSE(sink.misfit());
}

}  // namespace smd::tool::tensor
