// SPDX-License-Identifier: Apache-2.0
#include "tensor/array_text.hpp"

#include "sample_values.hpp"

#include <doctest/doctest.h>

#include <string>

namespace smd::tool::tensor {

namespace {

struct Case {
  Shape shape;
  std::size_t width;
  const char* text;  // numpy.array2string
};

const Case cases[] = {
#define SMD_PRINT_CASES
#include "numpy_cases.inc"
#undef SMD_PRINT_CASES
};

std::string printed(const TensorValue& value, const ArrayTextOptions& options) {
  std::string text;
  print_array(Elements(value.view()), options, [&](std::string_view line) {
    text += line;
    text += '\n';
  });
  return text;
}

}  // namespace

TEST_CASE("integers look as NumPy prints them") {
  for (const Case& sample : cases) {
    CAPTURE(to_string(sample.shape));
    std::vector<std::int64_t> numbers(element_count(sample.shape).value());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<std::int64_t>(i) * 37 % 1009 - 300;
    }
    const TensorValue value = value_of(Dtype::int64, sample.shape, numbers);
    CHECK(printed(value, {.ascii = true, .width = sample.width}) == std::string(sample.text) + "\n");
  }
}

TEST_CASE("points stand below each other") {
  const TensorValue value = value_of<float>(Dtype::float32, {2, 3}, {1.5F, -20.25F, 3.0F, 0.125F, 1e-7F, 100.0F});
  CHECK(printed(value, {}) ==
        "[[  1.5   -20.25    3    ]\n"
        " [  0.125   1e-07 100    ]]\n");
}

TEST_CASE("strings are quoted, and what could upset a terminal is escaped") {
  const TensorValue value = strings_value({3}, {"a", "b\x1b[31m", "üñ"});
  CHECK(printed(value, {}) == "['a'         'b\\x1b[31m' 'üñ'       ]\n");
  CHECK(printed(strings_value({}, {"x\n"}), {.ascii = true}) == "'x\\x0a'\n");
}

TEST_CASE("full leaves nothing out") {
  const TensorValue value = value_of(Dtype::uint8, {2000}, std::vector<std::uint8_t>(2000, 7));
  CHECK(printed(value, {}) == "[7 7 7 … 7 7 7]\n");
  const std::string all = printed(value, {.full = true});
  CHECK(std::count(all.begin(), all.end(), '7') == 2000);
}

TEST_CASE("other types") {
  CHECK(printed(value_of<std::uint8_t>(Dtype::boolean, {3}, {1, 0, 1}), {}) == "[ true false  true]\n");
  CHECK(printed(value_of<float>(Dtype::complex64, {2}, {1.5F, -2.0F, 0.0F, 1.0F}), {}) == "[1.5-2j   0+1j]\n");
}

}  // namespace smd::tool::tensor
