// SPDX-License-Identifier: Apache-2.0
#include "select/slice.hpp"

#include "cli/errors.hpp"
#include "unit/tensor/sample_values.hpp"

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

std::vector<std::int64_t> numbers_of(const TensorValue& value) {
  std::vector<std::int64_t> numbers(value.bytes().size() / sizeof(std::int64_t));
  if (!numbers.empty()) {
    std::memcpy(numbers.data(), value.bytes().data(), value.bytes().size());
  }
  return numbers;
}

TensorValue counted(const Shape& shape) {
  std::vector<std::int64_t> numbers(element_count(shape).value());
  std::iota(numbers.begin(), numbers.end(), 0);
  return value_of(Dtype::int64, shape, numbers);
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
    StridedLayout part;
    try {
      part = SliceSpec::parse(sample.slice).apply(sample.shape);
    } catch (const InvalidValue& problem) {
      error = problem.what();
    }
    CHECK(error == sample.error);
    if (error.empty()) {
      const TensorValue taken = take(counted(sample.shape), part);
      CHECK(taken.shape() == sample.result);
      CHECK(numbers_of(taken) == sample.elements);
    }
  }
}

TEST_CASE("a slice of strings keeps them whole") {
  const TensorValue value = strings_value({2, 2}, {"a", "", "long enough", "d"});
  const TensorValue taken = take(value, SliceSpec::parse("::-1,0").apply(value.shape()));
  CHECK(taken.shape() == Shape{2});
  CHECK(strings(taken.view()) == std::vector<std::string_view>{"long enough", "a"});
}

TEST_CASE("elements of every width are copied whole") {
  const TensorValue value =
      value_of<std::uint8_t>(Dtype::complex64, {2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  const TensorValue taken = take(value, SliceSpec::parse("1").apply(value.shape()));
  CHECK(taken.shape().empty());
  CHECK(taken.bytes().size() == 8);
  CHECK(std::to_integer<int>(taken.bytes()[0]) == 9);
  CHECK(std::to_integer<int>(taken.bytes()[7]) == 16);
}

TEST_CASE("axes beside an empty one may be of any size") {
  const Shape shape = {std::int64_t{1} << 62, 0, std::int64_t{1} << 62};
  const StridedLayout part = SliceSpec::parse("5,:,::-7").apply(shape);
  CHECK(part.shape == Shape{0, ((std::int64_t{1} << 62) - 1) / 7 + 1});
  CHECK(take(TensorValue(Dtype::float32, shape, nullptr, 0), part).bytes().empty());
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
