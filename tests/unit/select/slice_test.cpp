// SPDX-License-Identifier: Apache-2.0
#include "select/slice.hpp"

#include "cli/exit_status.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>
#include <string>

namespace smd::tool::tensor {

namespace {

struct Case {
  Shape shape;
  const char* slice;
  Shape result;
  std::vector<std::int64_t> elements;
  const char* error;  // NumPy's IndexError, or empty
};

const Case cases[] = {
#define SMD_SLICE_CASES
#include "unit/tensor/numpy_cases.inc"
#undef SMD_SLICE_CASES
};

/// The elements of a part of `numpy.arange`, in C order.
std::vector<std::int64_t> elements_of(const StridedPart& part) {
  std::vector<std::int64_t> elements;
  std::vector<std::int64_t> index(part.shape.size(), 0);
  const std::uint64_t count = element_count(part.shape).value();
  while (elements.size() < count) {
    elements.push_back(std::inner_product(index.begin(), index.end(), part.strides.begin(), part.offset));
    for (std::size_t axis = index.size(); axis-- > 0 && ++index[axis] == part.shape[axis];) {
      index[axis] = 0;
    }
  }
  return elements;
}

std::string refusal(const char* text) {
  try {
    (void)SliceSpec::parse(text);
  } catch (const InvalidValue& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a slice takes what NumPy takes") {
  for (const Case& sample : cases) {
    CAPTURE(to_string(sample.shape));
    CAPTURE(sample.slice);
    std::string error;
    StridedPart part;
    try {
      part = SliceSpec::parse(sample.slice).apply(sample.shape);
    } catch (const InvalidValue& problem) {
      error = problem.what();
    }
    CHECK(error == sample.error);
    if (error.empty()) {
      CHECK(part.shape == sample.result);
      CHECK(elements_of(part) == sample.elements);
    }
  }
}

TEST_CASE("axes beside an empty one may be of any size") {
  const Shape shape = {std::int64_t{1} << 62, 0, std::int64_t{1} << 62};
  const StridedPart part = SliceSpec::parse("5,:,::-7").apply(shape);
  CHECK(part.shape == Shape{0, ((std::int64_t{1} << 62) - 1) / 7 + 1});
}

TEST_CASE("what is no slice is refused") {
  CHECK(refusal("") == "'' is not an index: use integers, START:STOP:STEP, or ... between commas");
  CHECK(refusal("a") == "'a' is not an index: use integers, START:STOP:STEP, or ... between commas");
  CHECK(refusal("1.5") == "'1.5' is not an index: use integers, START:STOP:STEP, or ... between commas");
  CHECK(refusal("0,,1") == "'' is not an index: use integers, START:STOP:STEP, or ... between commas");
  CHECK(refusal("99999999999999999999").starts_with("'99999999999999999999' is not an index"));
  CHECK(refusal("::0") == "slice step cannot be zero");
  CHECK(refusal("1:2:3:4") == "'1:2:3:4' has more than START:STOP:STEP");
  CHECK(refusal("...,...") == "an index can only have a single ellipsis ('...')");
  CHECK(refusal(" 1 , : , ... ").empty());
}

}  // namespace smd::tool::tensor
