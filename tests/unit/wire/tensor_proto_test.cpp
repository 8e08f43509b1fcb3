// SPDX-License-Identifier: Apache-2.0
// Types, shapes and both places of elements.
#include "hex.hpp"
#include "message_builder.hpp"
#include "text/limits.hpp"
#include "wire/event.hpp"

#include <doctest/doctest.h>
#include <smd/elements.hpp>
#include <smd/tensor_view.hpp>

#include <random>
#include <vector>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::wire;
using namespace smd::test;

namespace {

Outcome<Value> parse(const Message& tensor) {
  static std::string payload;  // borrowed by the value until the next call
  payload = event_message("t", tensor).bytes();
  return parse_value(bytes_of(payload), "t");
}

/// Returns all elements, including repeated ones.
std::string elements(const Message& tensor) {
  const auto value = parse(tensor);
  if (!value) {
    return value.problem().text;
  }
  std::string text = to_hex(value->bytes);
  for (std::uint64_t i = 0; i < value->repeats; ++i) {
    text += to_hex(value->bytes.last(item_size(value->dtype)));
  }
  return text;
}

Message packed(std::initializer_list<std::int64_t> numbers) {
  Message list;
  for (const std::int64_t number : numbers) {
    list.raw_varint(static_cast<std::uint64_t>(number));
  }
  return list;
}

}  // namespace

TEST_CASE("every type is borrowed with NumPy's layout") {
  struct Row {
    const char* name;
    int number;
    Shape shape;
    const char* elements;
  };
  const std::vector<Row> rows = {
#include "dtypes_numpy.inc"
  };
  CHECK(rows.size() == 20);
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Message shape;
    for (const std::int64_t size : row.shape) {
      shape.message(2, Message().varint(1, static_cast<std::uint64_t>(size)));
    }
    const std::string payload = event_message("t", Message()
                                                       .varint(1, static_cast<std::uint64_t>(row.number))
                                                       .message(2, shape)
                                                       .text(4, from_hex(row.elements)))
                                    .bytes();
    const auto value = parse_value(bytes_of(payload), "t");
    REQUIRE_MESSAGE(value, value.problem().text);
    CHECK(to_string(value->dtype) == row.name);
    CHECK(value->shape == row.shape);
    CHECK(to_hex(value->bytes) == row.elements);
    CHECK(value->owned == nullptr);
    const auto* const begin = reinterpret_cast<const std::byte*>(payload.data());
    CHECK(value->bytes.data() > begin);
    CHECK(value->bytes.data() + value->bytes.size() <= begin + payload.size());
  }
}

TEST_CASE("every invalid type number is refused and named") {
  for (int number = -1; number < 300; ++number) {
    const bool known = (number >= 1 && number <= 19) || number == 22 || number == 23;
    const auto value = parse(tensor_message(number, {0}));
    CAPTURE(number);
    if (known || number == 0) {  // 0 without elements is an empty array of strings
      REQUIRE(value);
      CHECK(value->bytes.empty());
      CHECK(value->dtype == (number == 0 ? Dtype::string : static_cast<Dtype>(number)));
    } else {
      REQUIRE_FALSE(value);
      CHECK(value.problem().text == "tensor 't': unknown element type " + std::to_string(number));
    }
  }
}

TEST_CASE("typed values, packed, against NumPy's bytes") {
  // np.array(…, dtype).tobytes(), with the last value repeated if there are fewer
  const std::string two_floats = from_hex("0000c03f000010c0");  // 1.5, -2.25
  CHECK(elements(tensor_message(1, {3}).text(5, two_floats)) == "0000c03f000010c0000010c0");
  const std::string two_doubles = from_hex("000000000000f83f00000000000002c0");
  CHECK(elements(tensor_message(2, {3}).text(6, two_doubles)) == "000000000000f83f00000000000002c000000000000002c0");
  CHECK(elements(tensor_message(3, {2}).message(7, packed({-2147483648, 2147483647}))) == "00000080ffffff7f");
  CHECK(elements(tensor_message(4, {2}).message(7, packed({0, 255}))) == "00ff");
  CHECK(elements(tensor_message(5, {2}).message(7, packed({-32768, 32767}))) == "0080ff7f");
  CHECK(elements(tensor_message(6, {2}).message(7, packed({5, -6}))) == "05fa");
  CHECK(elements(tensor_message(11, {2}).message(7, packed({5, -6}))) == "05fa");
  CHECK(elements(tensor_message(17, {2}).message(7, packed({7, 65535}))) == "0700ffff");
  CHECK(elements(tensor_message(16, {2}).message(7, packed({7, 65535}))) == "0700ffff");
  CHECK(elements(tensor_message(9, {3}).message(10, packed({-1, 9223372036854775807, INT64_MIN}))) ==
        "ffffffffffffffffffffffffffffff7f0000000000000080");
  CHECK(elements(tensor_message(10, {4}).message(11, packed({0, 1, 7, 0}))) == "00010100");
  CHECK(elements(tensor_message(22, {2}).message(16, packed({7, 4294967295}))) == "07000000ffffffff");
  CHECK(elements(tensor_message(23, {2}).message(17, packed({0, -1}))) == "0000000000000000ffffffffffffffff");
  // The 16 bits of 1 and -2 as an integer: 0x3c00 and 0xc000; in bfloat16 0x3f80 and 0xc000.
  CHECK(elements(tensor_message(19, {3}).message(13, packed({0x3c00, 0xc000}))) == "003c00c000c0");
  CHECK(elements(tensor_message(14, {2}).message(13, packed({0x3f80, 0xc000}))) == "803f00c0");
  // 1+2j, 3-4j, and the last one repeated
  CHECK(elements(tensor_message(8, {3}).text(9, from_hex("0000803f0000004000004040000080c0"))) ==
        "0000803f0000004000004040000080c000004040000080c0");
  const char* const two_complex = "000000000000f03f0000000000000040000000000000084000000000000010c0";
  CHECK(elements(tensor_message(18, {2}).text(12, from_hex(two_complex))) == two_complex);
}

// tensorflow/core/framework/tensor.cc, FromProtoField: missing elements equal the last value, or are 0 without any.
TEST_CASE("without content and values all elements are zero, of every type") {
  for (const Dtype dtype : all_dtypes()) {
    if (float8_numbers(dtype) != nullptr) {
      continue;  // not in event files
    }
    CAPTURE(to_string(dtype));
    const std::size_t item = dtype == Dtype::string ? 4 : item_size(dtype);  // of a string, its length
    const int number = static_cast<int>(dtype);
    for (const std::int64_t size : {1, 3}) {
      const std::string zeros(2 * item * static_cast<std::size_t>(size), '0');
      CHECK(elements(tensor_message(number, {size})) == zeros);
      CHECK(elements(tensor_message(number, {size}).text(4, "")) == zeros);
    }
    CHECK(elements(tensor_message(number, {})) == std::string(2 * item, '0'));
    CHECK(elements(tensor_message(number, {0})).empty());
  }
}

TEST_CASE("typed values in separate fields, mixed with packed ones") {
  CHECK(elements(tensor_message(1, {4}).fixed32(5, 0x3fc00000).fixed32(5, 0xc0100000)) ==
        "0000c03f000010c0000010c0000010c0");
  CHECK(elements(tensor_message(2, {1}).fixed64(6, 0x3ff8000000000000)) == "000000000000f83f");
  CHECK(elements(tensor_message(8, {}).fixed32(9, 0x3f800000).fixed32(9, 0x40000000)) == "0000803f00000040");
  CHECK(elements(tensor_message(3, {5}).varint(7, 1).message(7, packed({2, 3})).varint(7, 4)) ==
        "0100000002000000030000000400000004000000");
  CHECK(elements(tensor_message(10, {1}).varint(11, 0)) == "00");
}

TEST_CASE("typed values that do not match are refused, with type and shape") {
  CHECK(elements(tensor_message(3, {2}).message(7, packed({1, 2, 3}))) ==
        "tensor 't': 3 values in its int_val, but int32 2 needs 2");
  CHECK(elements(tensor_message(3, {0}).message(7, packed({1}))) ==
        "tensor 't': 1 values in its int_val, but int32 0 needs 0");
  CHECK(elements(tensor_message(4, {2}).message(7, packed({1, 300}))) ==
        "tensor 't': 300 in its int_val, which uint8 cannot hold");
  CHECK(elements(tensor_message(6, {1}).message(7, packed({-129}))) ==
        "tensor 't': -129 in its int_val, which int8 cannot hold");
  CHECK(elements(tensor_message(19, {1}).message(13, packed({65536}))) ==
        "tensor 't': 65536 in its half_val, which float16 cannot hold");
  CHECK(elements(tensor_message(8, {2}).fixed32(9, 0)) ==
        "tensor 't': 1 numbers in its scomplex_val, which is no whole number of pairs");
  CHECK(elements(tensor_message(1, {1}).message(7, packed({1}))) ==
        "tensor 't': 1 in its int_val, but float32 belongs in float_val");
  CHECK(elements(tensor_message(1, {1}).text(4, "abcd").fixed32(5, 0)) ==
        "tensor 't': both 4 bytes of content and 1 values in its float_val");
  CHECK(elements(tensor_message(1, {1}).text(5, "abc")).find("protobuf") != std::string::npos);
  CHECK(elements(tensor_message(3, {1}).text(7, "\xff\xff")).find("protobuf") != std::string::npos);
}

TEST_CASE("a small file cannot allocate much memory by repeating one value") {
  const auto most = static_cast<std::int64_t>(limits::repeated_value_bytes / 4);
  const auto value = parse(tensor_message(1, {most + 1}).fixed32(5, 0x3fc00000));
  REQUIRE(value);
  CHECK(to_hex(value->bytes) == "0000c03f");
  CHECK(value->repeats == limits::repeated_value_bytes / 4);
  for (const std::int64_t size : {most + 2, std::int64_t{1} << 40, std::int64_t{1} << 62}) {
    for (const Message& message : {tensor_message(1, {size}).fixed32(5, 0x3fc00000), tensor_message(1, {size}),
                                   tensor_message(7, {size}).text(8, ""), tensor_message(7, {size})}) {
      const auto refused = parse(message);
      REQUIRE_FALSE(refused);
      CHECK(refused.problem().kind == ProblemKind::damaged);
      CHECK(refused.problem().text.find("repeated_value_bytes") != std::string::npos);
    }
  }
}

TEST_CASE("strings of any shape, packed with their lengths") {
  const auto value =
      parse(tensor_message(0, {2, 2}).text(8, "a").text(8, "").text(8, std::string("x\0", 2)).text(8, "é"));
  REQUIRE(value);
  CHECK(value->dtype == Dtype::string);
  const auto texts = strings({value->dtype, value->shape, value->bytes});
  REQUIRE(texts.size() == 4);
  CHECK(texts[0] == "a");
  CHECK(texts[1].empty());
  CHECK(texts[2] == std::string("x\0", 2));
  CHECK(texts[3] == "é");
  CHECK(value->owned != nullptr);

  CHECK(elements(tensor_message(7, {}).text(8, "hi")) == "020000006869");
  CHECK(elements(tensor_message(7, {0})).empty());
  CHECK(elements(tensor_message(0, {3, 0})).empty());
  CHECK(elements(tensor_message(0, {})) == "tensor 't': no element type (0)");
  // With a type, as TensorFlow writes them, the last one is repeated; without, as the reference does, each is there.
  CHECK(elements(tensor_message(7, {3}).text(8, "a").text(8, "hi")) ==
        "0100000061"
        "020000006869"
        "020000006869");
  CHECK(elements(tensor_message(0, {3}).text(8, "a").text(8, "hi")) == "tensor 't': 2 strings, but string 3 needs 3");
  CHECK(elements(tensor_message(7, {1}).text(8, "a").text(8, "hi")) == "tensor 't': 2 strings, but string 1 needs 1");
  CHECK(elements(tensor_message(7, {1}).text(4, "x")) == "tensor 't': 1 bytes of content, where strings should be");
  CHECK(elements(tensor_message(1, {1}).text(8, "x")) ==
        "tensor 't': 1 in its string_val, but float32 belongs in float_val");
}

TEST_CASE("the number of dimensions has a limit, which is named") {
  Message shape;
  for (std::size_t n = 0; n < limits::dimensions; ++n) {
    shape.message(2, Message().varint(1, 1));
  }
  CHECK(elements(Message().varint(1, 4).message(2, shape).text(4, "x")) == "78");
  shape.message(2, Message().varint(1, 1));
  CHECK(elements(Message().varint(1, 4).message(2, shape).text(4, "x")) ==
        "tensor 't': more dimensions than the limit (dimensions) of 64");
}

TEST_CASE("split tensors are merged: dimensions are appended, the last scalar counts") {
  const Message first = Message().varint(1, 1).message(2, shape_message({2})).text(4, "old");
  const Message second = Message().varint(1, 4).message(2, shape_message({3})).text(4, "abcdef");
  const std::string payload =
      Message()
          .message(5, Message().message(1, Message().message(8, first).text(1, "u").message(8, second).text(1, "t")))
          .bytes();
  const auto value = parse_value(bytes_of(payload), "t");
  REQUIRE_MESSAGE(value, value.problem().text);
  CHECK(value->dtype == Dtype::uint8);
  CHECK(value->shape == Shape{2, 3});
  CHECK(to_hex(value->bytes) == "616263646566");
}

TEST_CASE("the last member of a oneof counts") {
  const Message tensor = tensor_message(4, {1}).text(4, "x");
  const auto parse_parts = [](const Message& event) {
    return static_cast<bool>(parse_value(bytes_of(event.bytes()), "t"));
  };
  const Message value = Message().text(1, "t").fixed32(2, 0).message(8, tensor);
  CHECK(parse_parts(Message().message(5, Message().message(1, value))));
  CHECK_FALSE(parse_parts(Message().message(5, Message().message(1, Message(value).fixed32(2, 0)))));
  const Message summary = Message().message(1, Message().text(1, "t").message(8, tensor));
  CHECK(parse_parts(Message().text(3, "brain.Event:2").message(5, summary)));
  CHECK_FALSE(parse_parts(Message().message(5, summary).text(3, "brain.Event:2")));
}

TEST_CASE("two values with the requested name are refused") {
  const Message value = Message().text(1, "t").message(8, tensor_message(4, {1}).text(4, "x"));
  const std::string payload = Message().message(5, Message().message(1, value).message(1, value)).bytes();
  const auto result = parse_value(bytes_of(payload), "t");
  REQUIRE_FALSE(result);
  CHECK(result.problem().text == "tensor 't': 2 values of that name in one record");
}

TEST_CASE("groups are skipped down to the limit of depth, and must be valid") {
  const auto with_groups = [](int depth) {
    Message event;
    for (int n = 0; n < depth; ++n) {
      event.key(20, 3);
    }
    event.varint(21, 5).text(22, "inside").fixed32(23, 1).fixed64(24, 2);
    for (int n = 0; n < depth; ++n) {
      event.key(20, 4);
    }
    return event.raw(event_message("t", tensor_message(4, {1}).text(4, "x")).bytes());
  };
  const auto good = [](const Message& event) { return static_cast<bool>(parse_value(bytes_of(event.bytes()), "t")); };
  CHECK(good(with_groups(1)));
  CHECK(good(with_groups(limits::protobuf_depth)));
  CHECK_FALSE(good(with_groups(limits::protobuf_depth + 1)));
  CHECK_FALSE(good(with_groups(1'000'000)));
  const std::string event = event_message("t", tensor_message(4, {1}).text(4, "x")).bytes();
  CHECK(good(Message().raw(event).key(20, 3).key(20, 4)));
  CHECK_FALSE(good(Message().raw(event).key(20, 3)));
  CHECK_FALSE(good(Message().raw(event).key(20, 3).key(21, 4)));
  CHECK_FALSE(good(Message().raw(event).key(20, 4)));
  CHECK_FALSE(good(Message().raw(event).key(0, 3).key(0, 4)));
  CHECK_FALSE(good(Message().raw(event).key(20, 6)));
  CHECK_FALSE(good(Message().raw(event).key(20, 7)));
}

TEST_CASE("known fields of the wrong wire type are refused") {
  const auto refused = [](const Message& event) {
    const auto value = parse_value(bytes_of(event.bytes()), "t");
    return !value && value.problem().text == "record's protobuf message: field has the wrong wire type";
  };
  CHECK(refused(Message().varint(5, 1)));
  CHECK(refused(Message().varint(1, 1)));
  CHECK(refused(Message().fixed32(2, 1)));
  CHECK(refused(event_message("t", Message().text(1, "x"))));
  CHECK(refused(event_message("t", Message().varint(2, 1))));
  CHECK(refused(event_message("t", Message().varint(4, 1))));
  CHECK(refused(event_message("t", Message().fixed64(5, 1))));
}

TEST_CASE("a hundred thousand random shapes equal arithmetic in 128 bits") {
  __extension__ using Wide = unsigned __int128;
  std::mt19937_64 random(7);
  const std::string content(64, 'x');
  std::size_t wrong = 0;
  std::size_t read = 0;
  std::size_t refused = 0;
  for (int n = 0; n < 100'000; ++n) {
    const std::size_t rank = random() % 6;
    Message shape;
    Wide product = 1;
    bool zero = false;
    bool negative = false;
    bool overflow = false;
    for (std::size_t at = 0; at < rank; ++at) {
      std::uint64_t size = 0;
      switch (random() % 8) {
        case 0:
          size = 0;
          break;
        case 1:
          size = random();
          break;
        case 2:
          size = std::uint64_t{1} << (random() % 64);
          break;
        default:
          size = 1 + random() % 4;
      }
      shape.message(2, Message().varint(1, size));
      negative = negative || size >> 63 != 0;
      zero = zero || size == 0;
      if (size != 0 && !negative) {
        product *= size;  // two numbers below 2^63 fit
        if (product >> 63 != 0) {
          overflow = true;
          product = 1;
        }
      }
    }
    const bool sound = !negative && !overflow;
    const Wide count = zero ? 0 : product;
    // Half of the time as much content as the shape requires, unless that is too much.
    const bool fit = sound && count <= 64 && random() % 2 == 0;
    const std::size_t bytes = fit ? static_cast<std::size_t>(count) : random() % 65;
    const std::string payload =
        event_message("t", Message().varint(1, 4).message(2, shape).text(4, std::string_view(content).substr(0, bytes)))
            .bytes();
    const auto value = parse_value(bytes_of(payload), "t");
    const bool zeros = bytes == 0 && count != 0;  // no content: each element is 0
    const bool expected = sound && (zeros ? count <= limits::repeated_value_bytes : count == bytes);
    wrong += static_cast<bool>(value) != expected ||
             (value && (value->bytes.size() != (zeros ? 1 : bytes) ||
                        value->repeats != (zeros ? static_cast<std::uint64_t>(count) - 1 : 0)));
    read += value ? 1 : 0;
    refused += value ? 0 : 1;
  }
  CHECK(wrong == 0);
  CHECK(read > 10'000);
  CHECK(refused > 10'000);
}
