// SPDX-License-Identifier: Apache-2.0
#include "tensor/npy.hpp"

#include "sample_values.hpp"

#include <doctest/doctest.h>

#include <string>

namespace smd::tool::tensor {

namespace {

std::string elements(const TensorValue& value, const NpyType& type, bool* utf8 = nullptr) {
  std::string bytes;
  const bool all = write_npy_elements(value.dtype(), type, value.bytes(), [&](std::span<const std::byte> part) {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  if (utf8 != nullptr) {
    *utf8 = all;
  }
  return bytes;
}

}  // namespace

// Descriptions as `numpy.dtype(…).str` gives them.
TEST_CASE("types are NumPy's") {
  const std::vector<std::pair<Dtype, std::string>> types = {
      {Dtype::float32, "<f4"}, {Dtype::float64, "<f8"},   {Dtype::float16, "<f2"}, {Dtype::bfloat16, "<f4"},
      {Dtype::int8, "|i1"},    {Dtype::int16, "<i2"},     {Dtype::int32, "<i4"},   {Dtype::int64, "<i8"},
      {Dtype::uint8, "|u1"},   {Dtype::uint16, "<u2"},    {Dtype::uint32, "<u4"},  {Dtype::uint64, "<u8"},
      {Dtype::boolean, "|b1"}, {Dtype::complex64, "<c8"}, {Dtype::qint8, "|i1"},   {Dtype::quint8, "|u1"},
      {Dtype::qint16, "<i2"},  {Dtype::quint16, "<u2"},   {Dtype::qint32, "<i4"},  {Dtype::complex128, "<c16"}};
  for (const auto& [dtype_key, descr] : types) {
    const auto& dtype = dtype_key;
    CAPTURE(to_string(dtype));
    CHECK(npy_type(dtype).descr == descr);
  }
  const TensorValue two = strings_value({2}, {"a", "üñ"});
  const TensorValue blank = strings_value({1}, {""});
  const TensorValue none = strings_value({0}, {});
  CHECK(stacked_npy_type(Dtype::string, {two.bytes()}).descr == "<U2");
  CHECK(stacked_npy_type(Dtype::string, {blank.bytes()}).descr == "<U1");
  CHECK(stacked_npy_type(Dtype::string, {none.bytes()}).descr == "<U1");
}

// As numpy.lib.format.write_array_header_1_0 writes it.
TEST_CASE("the header is NumPy's") {
  const auto text_of = [](const Shape& shape) {
    const std::string header = npy_header({"<f4", 4}, shape);
    CHECK(header.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
    CHECK(header.size() % 64 == 0);
    CHECK(static_cast<unsigned char>(header[8]) + 256U * static_cast<unsigned char>(header[9]) == header.size() - 10);
    CHECK(header.back() == '\n');
    const std::string text = header.substr(10);
    return text.substr(0, text.find_last_not_of(" \n") + 1);
  };
  CHECK(text_of({}) == "{'descr': '<f4', 'fortran_order': False, 'shape': (), }");
  CHECK(text_of({3}) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
  CHECK(text_of({3, 0}) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0), }");
  CHECK(text_of(Shape(64, 1)).ends_with("1, 1), }"));
}

TEST_CASE("numbers are written as they lie") {
  CHECK(elements(value_of<std::uint8_t>(Dtype::int16, {2}, {1, 2, 3, 4}), npy_type(Dtype::int16)) ==
        "\x01\x02\x03\x04");
}

TEST_CASE("bfloat16 is the upper half of float32") {
  CHECK(elements(value_of<std::uint16_t>(Dtype::bfloat16, {2}, {0x3F80, 0x7FC1}), npy_type(Dtype::bfloat16)) ==
        std::string("\0\0\x80\x3F\0\0\xC1\x7F", 8));
}

TEST_CASE("strings are UTF-32, filled up with zeros") {
  const TensorValue value = strings_value({2}, {"é𝄞", "a"});
  // U+00E9 U+1D11E, and U+0061 with one zero.
  CHECK(elements(value, stacked_npy_type(Dtype::string, {value.bytes()})) ==
        std::string("\xE9\0\0\0\x1E\xD1\x01\0a\0\0\0\0\0\0\0", 16));
}

TEST_CASE("bytes that are not UTF-8 become U+FFFD") {
  const TensorValue value = strings_value({1}, {"\xFF"
                                                "a"});
  bool utf8 = true;
  CHECK(elements(value, stacked_npy_type(Dtype::string, {value.bytes()}), &utf8) ==
        std::string("\xFD\xFF\0\0a\0\0\0", 8));
  CHECK_FALSE(utf8);
}

TEST_CASE("parts of one array get the widest type") {
  const TensorValue first = strings_value({1}, {"a"});
  const TensorValue second = strings_value({1}, {"abc"});
  CHECK(stacked_npy_type(Dtype::string, {first.bytes(), second.bytes()}).descr == "<U3");
  CHECK(stacked_npy_type(Dtype::int8, {first.bytes()}).descr == "|i1");
}

}  // namespace smd::tool::tensor
