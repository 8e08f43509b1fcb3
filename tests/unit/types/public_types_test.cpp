// SPDX-License-Identifier: Apache-2.0
// The small public types: dtype, shape, step, problem, error, tensor view, version.
#include <doctest/doctest.h>
#include <smd/dtype.hpp>
#include <smd/error.hpp>
#include <smd/problem.hpp>
#include <smd/shape.hpp>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>
#include <smd/version.hpp>

#include <string>
#include <vector>

using namespace smd;

TEST_CASE("types: names, sizes, kinds") {
  struct Row {
    int number;
    const char* name;
    std::size_t bytes;
    char kind;  ///< NumPy's dtype.kind; q for quantised types
  };
  // docs/format.md, "Element types"
  const std::vector<Row> rows = {{1, "float32", 4, 'f'},  {2, "float64", 8, 'f'},   {3, "int32", 4, 'i'},
                                 {4, "uint8", 1, 'u'},    {5, "int16", 2, 'i'},     {6, "int8", 1, 'i'},
                                 {7, "string", 0, 'U'},   {8, "complex64", 8, 'c'}, {9, "int64", 8, 'i'},
                                 {10, "bool", 1, 'b'},    {11, "qint8", 1, 'q'},    {12, "quint8", 1, 'q'},
                                 {13, "qint32", 4, 'q'},  {14, "bfloat16", 2, 'f'}, {15, "qint16", 2, 'q'},
                                 {16, "quint16", 2, 'q'}, {17, "uint16", 2, 'u'},   {18, "complex128", 16, 'c'},
                                 {19, "float16", 2, 'f'}, {22, "uint32", 4, 'u'},   {23, "uint64", 8, 'u'}};
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto dtype = static_cast<Dtype>(row.number);
    CHECK(to_string(dtype) == row.name);
    CHECK(item_size(dtype) == row.bytes);
    CHECK(is_floating(dtype) == (row.kind == 'f'));
    CHECK(is_complex(dtype) == (row.kind == 'c'));
    CHECK(is_real(dtype) == (row.kind != 'c' && row.kind != 'U'));
    CHECK(to_string(storage_type(dtype)) == std::string(row.name).substr(row.kind == 'q' ? 1 : 0));
    CHECK(item_size(storage_type(dtype)) == row.bytes);
  }
}

TEST_CASE("shapes: elements and text") {
  CHECK(element_count(Shape{}) == 1);
  CHECK(element_count({64, 3, 7, 7}) == 9408);  // 64 * 147
  CHECK(element_count({5, 0, 3}) == 0);
  CHECK_FALSE(element_count({-1}));
  CHECK_FALSE(element_count({0, -1}));
  const std::int64_t most = 9223372036854775807;  // 2^63 - 1
  CHECK(element_count({most}) == 9223372036854775807u);
  CHECK(element_count({most, 1}) == 9223372036854775807u);
  CHECK_FALSE(element_count({most, 2}));
  CHECK_FALSE(element_count({8589934592, 8589934592}));     // 2^33 * 2^33
  CHECK_FALSE(element_count({0, 8589934592, 8589934592}));  // the other sizes alone do not fit
  CHECK_FALSE(element_count({8589934592, 8589934592, 0}));
  CHECK(element_count({2147483648, 2147483648}) == 4611686018427387904u);  // 2^31 * 2^31 = 2^62

  using Strides = std::vector<std::int64_t>;
  CHECK(whole_strides({}) == Strides{});
  CHECK(whole_strides({2, 3, 4}) == Strides{12, 4, 1});
  CHECK(whole_strides({2, 0, 4}) == Strides{0, 0, 0});
  CHECK(whole_strides({most, 2}) == Strides{0, 0});

  CHECK(to_string(Shape{}) == "scalar");
  CHECK(to_string(Shape{64, 3, 7, 7}) == "64x3x7x7");
  CHECK(to_string(Shape{0}) == "0");
}

TEST_CASE("modes and states: names both ways") {
  CHECK(to_string(Mode::train) == "TRAIN");
  CHECK(to_string(Mode::eval) == "EVAL");
  CHECK(to_string(Mode::predict) == "PREDICT");
  CHECK(to_string(Mode::global) == "GLOBAL");
  CHECK(parse_mode("TRAIN") == Mode::train);
  CHECK(parse_mode("Eval") == Mode::eval);
  CHECK(parse_mode("predict") == Mode::predict);
  CHECK(parse_mode("gLoBaL") == Mode::global);
  for (const char* text : {"", "TRAI", "TRAINS", "1", "train ", "`rain"}) {
    CHECK_FALSE(parse_mode(text));
  }
  CHECK(to_string(StepState::available) == "AVAILABLE");
  CHECK(to_string(StepState::unavailable) == "UNAVAILABLE");
  CHECK(to_string(StepState::not_yet_available) == "NOT_YET_AVAILABLE");
}

TEST_CASE("problems: tag, place, text") {
  CHECK(to_string(ProblemKind::not_yet) == "NotYet");
  CHECK(to_string(ProblemKind::absent) == "Absent");
  CHECK(to_string(ProblemKind::not_found) == "NotFound");
  CHECK(to_string(ProblemKind::access_denied) == "AccessDenied");
  CHECK(to_string(ProblemKind::io) == "ReadError");
  CHECK(to_string(ProblemKind::network) == "Network");
  CHECK(to_string(ProblemKind::damaged) == "Damaged");
  CHECK(to_string(ProblemKind::warning) == "Warning");
  CHECK(to_string(ProblemKind::note) == "Note");
  CHECK(to_string(Problem{ProblemKind::damaged, "events/a", 113, "bad"}) == "events/a: byte 113: bad");
  CHECK(to_string(Problem{ProblemKind::damaged, "events/a", {}, "bad"}) == "events/a: bad");
  CHECK(to_string(Problem{ProblemKind::damaged, "", {}, "bad"}) == "bad");
  CHECK(to_string(Problem{ProblemKind::damaged, "a\nb", {}, "bad"}) == "a\\x0ab: bad");
}

TEST_CASE("errors have their tag and their fields") {
  const ReadError read(Problem{ProblemKind::not_found, "x", {}, "no such directory"});
  CHECK(read.tag() == "NotFound");
  CHECK(std::string(read.what()) == "x: no such directory");
  CHECK(read.problem.file == "x");
  const TensorUnavailable unavailable("no tensor 'lss'", "lss", {"loss"});
  CHECK(unavailable.tag() == "TensorUnavailable");
  CHECK(unavailable.nearest == std::vector<std::string>{"loss"});
  try {
    throw StepNotYetAvailable("wait", StepKey(Mode::eval, ModeStep(4)));
  } catch (const Error& error) {
    CHECK(error.tag() == "StepNotYetAvailable");
  }
}

TEST_CASE("strings of a view") {
  const std::string packed("\x02\0\0\0hi\0\0\0\0\x01\0\0\0x", 15);
  const auto bytes = std::as_bytes(std::span(packed.data(), packed.size()));
  const Shape shape{3};
  const std::vector<std::string_view> expected = {"hi", "", "x"};
  CHECK(strings({Dtype::string, shape, bytes}) == expected);
  CHECK(strings({Dtype::uint8, shape, bytes}).empty());
  CHECK(strings({Dtype::string, shape, {}}).empty());
  // Not a valid view: never reads past its end.
  CHECK(strings({Dtype::string, shape, bytes.first(14)}) == std::vector<std::string_view>{"hi", ""});
  CHECK(strings({Dtype::string, shape, bytes.first(3)}).empty());
}

TEST_CASE("the library's version is that of its header") { CHECK(version() == SMD_VERSION_STRING); }
