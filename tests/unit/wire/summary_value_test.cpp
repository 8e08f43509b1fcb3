// SPDX-License-Identifier: Apache-2.0
// The value of a tag, whatever its kind, and what a scan takes from tensors, histograms and hyperparameters.
#include "hex.hpp"
#include "message_builder.hpp"
#include "wire/outline.hpp"
#include "wire/summary.hpp"

#include <doctest/doctest.h>
#include <smd/tensor.hpp>
#include <smd/tensor_view.hpp>

#include <bit>
#include <cmath>
#include <limits>

using namespace smd;
using namespace smd::detail;
using namespace smd::detail::wire;
using namespace smd::test;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Message event_of(const Message& value) {
  return Message().fixed64(1, 0x41d954fc40100000).varint(2, 3).message(5, Message().message(1, value));
}

Outcome<Value> parse(const Message& event, std::string_view tag = "t", ValueForm part = ValueForm::record) {
  static std::string payload;  // borrowed by the value until the next call
  payload = event.bytes();
  return parse_value(bytes_of(payload), tag, ValueKinds::summaries, part);
}

/// `float32 2x3: 0000…`, without repeated elements.
std::string shown(const Outcome<Value>& value) {
  if (!value) {
    return value.problem().text;
  }
  return std::string(to_string(value->dtype)) + " " + to_string(value->shape) + ": " + to_hex(value->bytes);
}
std::string tensor(const Message& proto) { return shown(parse(event_of(Message().text(1, "t").message(8, proto)))); }

/// Texts of a string tensor, then its shape.
std::string texts(const Message& proto, ValueForm part) {
  const auto value = parse(event_of(Message().text(1, "t").message(8, proto)), "t", part);
  REQUIRE_MESSAGE(value, value.problem().text);
  CHECK((value->bytes.empty() || value->bytes.data() == value->owned.get()));
  std::string all;
  for (const std::string_view text : strings({value->dtype, value->shape, value->bytes})) {
    all += std::string(text) + "|";
  }
  return all + to_string(value->shape);
}

Message string_tensor(std::initializer_list<std::int64_t> dims, std::initializer_list<std::string_view> items) {
  Message proto = tensor_message(7, dims);
  for (const std::string_view item : items) {
    proto.text(8, item);
  }
  return proto;
}

Message doubles(std::initializer_list<double> numbers) {
  Message all;
  for (const double number : numbers) {
    const auto bits = std::bit_cast<std::uint64_t>(number);
    for (int at = 0; at < 8; ++at) {
      all.raw(std::string(1, static_cast<char>(bits >> (8 * at))));
    }
  }
  return all;
}

Message histogram(double min, double max, std::initializer_list<double> limits, std::initializer_list<double> counts) {
  return Message()
      .fixed64(1, std::bit_cast<std::uint64_t>(min))
      .fixed64(2, std::bit_cast<std::uint64_t>(max))
      .message(6, doubles(limits))
      .message(7, doubles(counts));
}
std::string buckets(const Message& histo) { return shown(parse(event_of(Message().text(1, "t").message(5, histo)))); }
std::string rows(std::int64_t count, std::initializer_list<double> numbers) {
  return "float64 " + std::to_string(count) + "x3: " + to_hex(bytes_of(doubles(numbers).bytes()));
}

std::optional<ScalarBits> scalar(const Message& proto) { return scalar_of_tensor(bytes_of(proto.bytes())); }

}  // namespace

TEST_CASE("a simple value is a float32 scalar, to the bit") {
  const auto value = parse(event_of(Message().text(1, "t").fixed32(2, 0x7fa00001)));
  CHECK(shown(value) == "float32 scalar: 0100a07f");
  CHECK(value->wall_time == 1700000000.25);
  CHECK(value->step == 3);
}

TEST_CASE("of several values the last one of the name is read") {
  const Message event = Message().message(5, Message()
                                                 .message(1, Message().text(1, "t").fixed32(2, 1))
                                                 .message(1, Message().text(1, "u").fixed32(2, 2))
                                                 .message(1, Message().text(7, "t").fixed32(2, 3))
                                                 .message(1, Message().text(1, "v").text(8, "\xff")));
  CHECK(shown(parse(event, "t")) == "float32 scalar: 03000000");
  CHECK(shown(parse(event, "u")) == "float32 scalar: 02000000");
  CHECK(shown(parse(event, "w")) == "record holds tensor 'v', not 'w'");
  CHECK(shown(parse(event, "v")).starts_with("record's protobuf message: "));
}

TEST_CASE("what holds no value says so") {
  CHECK(shown(parse(Message().text(3, "brain.Event:2"))) == "record's event has no summary");
  CHECK(shown(parse(Message().text(5, ""))) == "record's summary has no value");
  CHECK(shown(parse(event_of(Message().text(1, "t")))) == "tensor 't': record holds no value");
}

TEST_CASE("a tensor without a shape is a scalar, where TensorBoard's writers put it") {
  const Message proto = Message().varint(1, 1).fixed32(5, 0x3f800000);
  CHECK(tensor(proto) == "float32 scalar: 0000803f");
  const std::string payload = event_message("t", proto).bytes();
  CHECK(shown(parse_value(bytes_of(payload), "t")) == "tensor 't': no shape");
}

TEST_CASE("a tensor that a writer split is put together, and owns its elements") {
  const Message type = Message().varint(1, 4).message(2, shape_message({3}));
  const auto value = parse(event_of(Message().text(1, "t").message(8, type).text(8, Message().text(4, "abc").bytes())));
  CHECK(shown(value) == "uint8 3: 616263");
  CHECK(value->bytes.data() == value->owned.get());
}

TEST_CASE("bytes in uint32_val or int_val") {
  const Message list = Message().raw_varint(0).raw_varint(200);
  CHECK(tensor(tensor_message(4, {2}).message(16, list)) == "uint8 2: 00c8");
  CHECK(tensor(tensor_message(4, {2}).message(7, list)) == "uint8 2: 00c8");
  CHECK(tensor(tensor_message(12, {2}).message(16, list)) == "quint8 2: 00c8");
  CHECK(tensor(tensor_message(4, {1}).varint(16, 256)) == "tensor 't': 256 in its uint32_val, which uint8 cannot hold");
  CHECK(tensor(tensor_message(4, {1}).varint(16, 1).varint(7, 1)) ==
        "tensor 't': 1 in its int_val, but uint8 belongs in uint32_val");
  CHECK(tensor(tensor_message(17, {1}).varint(16, 1)) ==
        "tensor 't': 1 in its uint32_val, but uint16 belongs in int_val");
  const std::string payload = event_message("t", tensor_message(4, {1}).varint(16, 1)).bytes();
  CHECK(shown(parse_value(bytes_of(payload), "t")) == "tensor 't': 1 in its uint32_val, but uint8 belongs in int_val");
}

TEST_CASE("float32 in half_val, if one element needs it") {
  // 1.5 is 0x3fc00000, -2 is 0xc0000000, which protobuf writes as a negative int32; NaN is 0x7fc00000.
  const Message wide =
      Message().raw_varint(0x3fc00000).raw_varint(0xffffffffc0000000).raw_varint(0).raw_varint(0x7fc00000);
  CHECK(tensor(tensor_message(19, {4}).message(13, wide)) == "float16 4: 003e00c00000007e");
  CHECK(tensor(tensor_message(14, {4}).message(13, wide)) == "bfloat16 4: c03f00c00000c07f");
  // Alone, small numbers are 16 bits of their own type.
  CHECK(tensor(tensor_message(19, {2}).varint(13, 0x3e00).varint(13, 0xc000)) == "float16 2: 003e00c0");
  const std::string payload = event_message("t", tensor_message(19, {4}).message(13, wide)).bytes();
  CHECK(shown(parse_value(bytes_of(payload), "t")) ==
        "tensor 't': 1069547520 in its half_val, which float16 cannot hold");
}

TEST_CASE("an image and a sound are their encoded bytes") {
  const Message media = Message().varint(1, 6).varint(2, 5).varint(3, 3).text(4, "PNG").text(5, "audio/wav");
  CHECK(shown(parse(event_of(Message().text(1, "t").message(4, media)))) == "string scalar: 03000000504e47");
  CHECK(shown(parse(event_of(Message().text(1, "t").message(6, media)), "t", ValueForm::clips)) ==
        "string scalar: 03000000504e47");
  CHECK(shown(parse(event_of(Message().text(1, "t").text(4, "")))) == "string scalar: 00000000");
  CHECK(shown(parse(event_of(Message().text(1, "t").message(4, Message().varint(4, 1))))) ==
        "record's protobuf message: field has the wrong wire type");
}

TEST_CASE("images without width and height, sounds without labels") {
  const Message images = string_tensor({4}, {"640", "480", "one", "two"});
  CHECK(texts(images, ValueForm::images) == "one|two|2");
  CHECK(texts(images, ValueForm::record) == "640|480|one|two|4");
  CHECK(texts(string_tensor({2}, {"640", "480"}), ValueForm::images) == "0");
  CHECK(texts(string_tensor({1}, {"640"}), ValueForm::images) == "640|1");
  CHECK(texts(string_tensor({}, {"one"}), ValueForm::images) == "one|scalar");
  CHECK(texts(string_tensor({1, 3}, {"6", "4", "one"}), ValueForm::images) == "6|4|one|1x3");
  const Message clips = string_tensor({3, 2}, {"first", "label", "", "of the second", "third", ""});
  CHECK(texts(clips, ValueForm::clips) == "first||third|3");
  CHECK(texts(string_tensor({2}, {"a", "b"}), ValueForm::clips) == "a|b|2");
  CHECK(texts(string_tensor({0, 2}, {}), ValueForm::clips) == "0");
  CHECK(texts(string_tensor({3, 0}, {}), ValueForm::clips) == "3x0");
  // A part of what holds no strings is the whole of it.
  const Message number = Message().text(1, "t").message(8, tensor_message(4, {3}).text(4, "abc"));
  CHECK(shown(parse(event_of(number), "t", ValueForm::images)) == "uint8 3: 616263");
}

TEST_CASE("a histogram has the edges that TensorBoard gives it") {
  // PyTorch: an empty bucket first, for its limit.
  CHECK(buckets(histogram(-1.5, 2.5, {-2, -1, 0, 3}, {0, 4, 0, 5})) ==
        rows(3, {-1.5, -1, 4, /**/ -1, 0, 0, /**/ 0, 2.5, 5}));
  // TensorFlow: no bucket before, and an empty one behind.
  CHECK(buckets(histogram(1, 2, {1.5, 2.25, 1.7e308}, {1, 2, 0})) == rows(2, {1, 1.5, 1, /**/ 1.5, 2, 2}));
  CHECK(buckets(histogram(2.5, 2.5, {2.4, 2.6}, {0, 50})) == rows(1, {2.5, 2.5, 50}));
  CHECK(buckets(histogram(1.7e308, -1.7e308, {0, 1}, {0, 0})) == "float64 0x3: ");
  CHECK(buckets(Message()) == "float64 0x3: ");
  // Infinities lie in no bucket: the edges are the limits, as far as they are known.
  CHECK(buckets(histogram(-infinity, infinity, {0, 1}, {2, 3})) == rows(2, {-infinity, 0, 2, /**/ 0, 1, 3}));
  CHECK(buckets(histogram(-infinity, infinity, {-2, 0, 1}, {0, 2, 3})) == rows(2, {-2, 0, 2, /**/ 0, 1, 3}));
  CHECK(buckets(histogram(not_a_number, not_a_number, {0, 1}, {2, 3})) ==
        rows(2, {not_a_number, 0, 2, /**/ 0, not_a_number, 3}));
  // Numbers one by one, and in two parts.
  CHECK(buckets(Message()
                    .fixed64(2, std::bit_cast<std::uint64_t>(4.0))
                    .fixed64(6, std::bit_cast<std::uint64_t>(1.0))
                    .message(6, doubles({3}))
                    .message(7, doubles({5, 6}))) == rows(2, {0, 1, 5, /**/ 1, 4, 6}));
  CHECK(buckets(histogram(0, 1, {1, 2}, {3})) == "tensor 't': histogram with 2 limits of 1 buckets");
  CHECK(buckets(histogram(0, 2, {3, 2, 1}, {1, 1, 1})) == "tensor 't': the buckets of the histogram do not ascend");
  CHECK(buckets(histogram(0, 2, {1, 2, 3}, {-1, 1, 3})) == "tensor 't': a bucket of the histogram has -1 elements");
  CHECK(buckets(Message().text(6, "1234567")) == "record's protobuf message: packed numbers do not fill their field");
}

TEST_CASE("the sums of a histogram") {
  const Message all = Message()
                          .fixed64(1, std::bit_cast<std::uint64_t>(-1.5))
                          .fixed64(2, std::bit_cast<std::uint64_t>(2.5))
                          .fixed64(3, std::bit_cast<std::uint64_t>(7.0))
                          .fixed64(4, std::bit_cast<std::uint64_t>(not_a_number))
                          .fixed64(5, std::bit_cast<std::uint64_t>(infinity))
                          .message(6, doubles({1}))
                          .fixed64(7, 0);
  const auto sums = histogram_sums(bytes_of(all.bytes()));
  REQUIRE(sums);
  CHECK(sums->min == -1.5);
  CHECK(sums->max == 2.5);
  CHECK(sums->num == 7);
  CHECK(std::isnan(sums->sum));
  CHECK(sums->sum_squares == infinity);
  for (std::uint32_t field = 1; field <= 7; ++field) {
    CAPTURE(field);
    CHECK_FALSE(histogram_sums(bytes_of(Message().varint(field, 1).bytes())));
  }
  // Five fields of 9 bytes, one of 10, one of 9: sound where it ends between them, but for a limit without its bucket.
  for (std::size_t size = 0; size <= all.bytes().size(); ++size) {
    CAPTURE(size);
    const bool between = (size <= 45 && size % 9 == 0) || size == 64;
    CHECK(static_cast<bool>(histogram_sums(bytes_of(std::string_view(all.bytes()).substr(0, size)))) == between);
  }
  const auto wrong = [](const Message& proto) { return histogram_sums(bytes_of(proto.bytes())).problem().text; };
  CHECK(wrong(histogram(0, 2, {3, 2, 1}, {1, 1, 1})) == "the buckets of the histogram do not ascend");
  CHECK(wrong(histogram(0, 2, {1, 2, 3}, {-1, 1, 3})) == "a bucket of the histogram has -1 elements");
}

TEST_CASE("the outermost edges of buckets that are not empty") {
  const auto span_of = [](const Message& proto) { return bucket_span(bytes_of(proto.bytes())); };
  const auto table = [](std::int64_t count, std::initializer_list<double> numbers) {
    return tensor_message(2, {count, 3}).text(4, doubles(numbers).bytes());
  };
  const auto some = span_of(table(4, {0, 1, 0, /**/ 1, 2, 5, /**/ 2, 3, 0.5, /**/ 3, 4, 0}));
  REQUIRE(some);
  REQUIRE(*some);
  CHECK((*some)->min == 1);
  CHECK((*some)->max == 3);
  CHECK(span_of(table(2, {5, 6, 1, /**/ -2, -1, 1})).problem().text == "the buckets of the histogram do not ascend");
  CHECK(span_of(table(1, {2, 1, 1})).problem().text == "the buckets of the histogram do not ascend");
  CHECK(span_of(table(2, {0, 1, 2, /**/ 1, 2, -3})).problem().text == "a bucket of the histogram has -3 elements");
  // TensorFlow gives all buckets of equal elements the same edges; the elements are in the last one.
  const auto equal = span_of(table(3, {-0.5, 0.5, 0, /**/ -0.5, 0.5, 0, /**/ -0.5, 0.5, 30}));
  REQUIRE(equal);
  CHECK((*equal).value().min == -0.5);
  CHECK((*equal).value().max == 0.5);
  for (const double other : {7.0, -7.0}) {
    const auto unknown = span_of(table(3, {other, other, 1, /**/ not_a_number, not_a_number, 1, /**/ other, other, 1}));
    REQUIRE(unknown);
    CHECK(std::isnan((*unknown).value().min));
    CHECK(std::isnan((*unknown).value().max));
  }
  const auto empty = span_of(table(1, {1, 2, 0}));
  REQUIRE(empty);
  CHECK_FALSE(*empty);
  const auto none = span_of(tensor_message(2, {0, 3}));
  REQUIRE(none);
  CHECK_FALSE(*none);
  // Two rows of which all but the first number are the last one given, 4: the second is 4, 4, 4.
  const auto repeated = span_of(tensor_message(2, {2, 3}).message(6, doubles({1, 2, 4})));
  REQUIRE(repeated);
  CHECK((*repeated).value().min == 1);
  CHECK((*repeated).value().max == 4);
  // 1.5, 2.5, 1 in float32
  const auto small = span_of(tensor_message(1, {1, 3}).text(4, from_hex("0000c03f000020400000803f")));
  REQUIRE(small);
  CHECK((*small).value().min == 1.5);
  CHECK((*small).value().max == 2.5);
  CHECK(span_of(tensor_message(2, {3}).text(4, doubles({1}).bytes())).problem().text ==
        "8 bytes of content, but float64 3 needs 3 times 8");
  CHECK(span_of(tensor_message(2, {1}).text(4, doubles({1}).bytes())).problem().text ==
        "float64 1, where a histogram has float64 kx3");
  CHECK_FALSE(span_of(tensor_message(4, {1, 3}).text(4, "abc")));
  CHECK_FALSE(span_of(tensor_message(2, {0, 2})));
}

TEST_CASE("the element of a scalar") {
  const auto is = [](const std::optional<ScalarBits>& got, Dtype dtype, std::uint64_t bits) {
    return got && got->dtype == dtype && got->bits == bits;
  };
  const std::string two = from_hex("0000000000000040");
  CHECK(is(scalar(Message().varint(1, 2).text(6, two)), Dtype::float64, 0x4000000000000000));
  CHECK(is(scalar(tensor_message(2, {}).text(6, two)), Dtype::float64, 0x4000000000000000));
  CHECK(is(scalar(tensor_message(2, {}).text(4, two)), Dtype::float64, 0x4000000000000000));
  CHECK(is(scalar(tensor_message(2, {1, 1}).text(4, two)), Dtype::float64, 0x4000000000000000));
  CHECK(is(scalar(tensor_message(2, {}).fixed64(6, 0x4000000000000000)), Dtype::float64, 0x4000000000000000));
  CHECK(is(scalar(tensor_message(1, {}).text(4, "abcd")), Dtype::float32, 0x64636261));
  CHECK(is(scalar(Message().varint(1, 1).text(5, "abcd")), Dtype::float32, 0x64636261));
  CHECK(is(scalar(tensor_message(9, {}).varint(10, std::uint64_t(-2))), Dtype::int64, 0xfffffffffffffffe));
  CHECK(is(scalar(tensor_message(6, {}).varint(7, std::uint64_t(-2))), Dtype::int8, 0xfe));
  CHECK(is(scalar(tensor_message(10, {}).text(4, "\x07")), Dtype::boolean, 1));
  CHECK(is(scalar(tensor_message(14, {}).varint(13, 0x3fc00000)), Dtype::bfloat16, 0x3fc0));
  CHECK(is(scalar(tensor_message(19, {}).varint(13, 0x3e00)), Dtype::float16, 0x3e00));
  CHECK(is(scalar(tensor_message(8, {}).text(4, "abcdefgh")), Dtype::complex64, 0x6867666564636261));
  CHECK_FALSE(scalar(tensor_message(18, {}).text(4, "0123456789abcdef")));  // 16 bytes
  CHECK_FALSE(scalar(string_tensor({}, {"x"})));
  CHECK_FALSE(scalar(tensor_message(2, {2}).text(6, two)));
  CHECK_FALSE(scalar(tensor_message(2, {0})));
  CHECK_FALSE(scalar(tensor_message(1, {}).text(6, two)));       // double_val of a float32
  CHECK_FALSE(scalar(tensor_message(1, {}).text(5, two)));       // two numbers
  CHECK_FALSE(scalar(tensor_message(2, {}).text(4, "abcd")));    // half a number
  CHECK(is(scalar(Message().varint(1, 2)), Dtype::float64, 0));  // neither shape nor values
  CHECK_FALSE(scalar(Message()));
  const Message whole = tensor_message(2, {}).text(6, two);
  for (std::size_t size = 0; size < whole.bytes().size(); ++size) {
    CAPTURE(size);
    const bool cut_between_fields = size == 2 || size == 4;  // after the type, and after the shape
    const auto cut = scalar_of_tensor(bytes_of(std::string_view(whole.bytes()).substr(0, size)));
    CHECK((cut_between_fields ? is(cut, Dtype::float64, 0) : !cut));
  }
}

TEST_CASE("type and shape of a tensor without elements") {
  const auto outline = [](const Message& proto) {
    const Message value = Message().text(1, "t").message(8, proto);
    const Message event = Message().message(5, Message().message(1, value));
    return parse_value(bytes_of(event.bytes()), "t", ValueKinds::summaries);
  };
  const auto plain = outline(tensor_message(7, {3, 2}));  // of no strings
  REQUIRE(plain);
  CHECK(plain->dtype == Dtype::string);
  CHECK(plain->shape == Shape{3, 2});
  const auto without = outline(Message().varint(1, 9));
  REQUIRE(without);
  CHECK(without->dtype == Dtype::int64);
  CHECK(without->shape.empty());
  CHECK(outline(tensor_message(99, {1})).problem().text == "tensor 't': unknown element type 99");
  CHECK(outline(tensor_message(1, {-2})).problem().text == "tensor 't': a negative dimension, -2");
  CHECK(outline(Message().varint(2, 1)).problem().text == "record's protobuf message: field has the wrong wire type");
}

TEST_CASE("hyperparameters, as PyTorch and TensorFlow store them") {
  // HParamsPluginData.session_start_info.hparams, a map to google.protobuf.Value
  const auto entry = [](std::string_view name, const Message& value) {
    return Message().text(1, name).message(2, value);
  };
  const auto number = [](double value) { return Message().fixed64(2, std::bit_cast<std::uint64_t>(value)); };
  const Message list = Message().message(6, Message().message(1, number(1)).message(1, Message().text(3, "two")));
  const Message session = Message()
                              .message(1, entry("net", Message().text(3, "m\"l\xc3\xa9p\n")))
                              .message(1, entry("lr", number(0.1)))
                              .message(1, entry("layers", list))
                              .message(1, entry("bn", Message().varint(4, 1)))
                              .message(1, entry("off", Message().varint(4, 0)))
                              .message(1, entry("none", Message().varint(1, 0)))
                              .message(1, entry("nothing", Message()))
                              .message(1, entry("batch", number(32)))
                              .message(1, entry("nan", number(not_a_number)))
                              .message(1, entry("least", number(-infinity)))
                              .message(1, entry("struct", Message().text(5, "")))
                              .message(1, entry("lr", number(1e-5)))
                              .text(4, "group");
  const std::string content = Message().varint(1, 0).message(3, session).bytes();
  std::string all;
  for (const Hyperparameter& parameter : hyperparameters(bytes_of(content))) {
    all += std::string(parameter.name) + " = " + parameter.json + "\n";
  }
  CHECK(all ==
        "batch = 32\nbn = true\nlayers = [1, \"two\"]\nleast = \"-Infinity\"\nlr = 1e-05\nnan = \"NaN\"\n"
        "net = \"m\\\"l\xc3\xa9p\\n\"\nnone = null\nnothing = null\noff = false\nstruct = null\n");
  CHECK(hyperparameters({}).empty());
  CHECK(hyperparameters(bytes_of(Message().text(2, "experiment").text(4, "end").bytes())).empty());
  CHECK(hyperparameters(bytes_of(std::string_view(content).substr(0, content.size() - 1))).empty());
}

TEST_CASE("lists of hyperparameters nest so deep and no deeper") {
  Message value = Message().text(3, "x");
  for (int depth = 0; depth < 5000; ++depth) {
    Message outer;
    outer.message(6, Message().message(1, value));
    value = std::move(outer);
  }
  const std::string content =
      Message().message(3, Message().message(1, Message().text(1, "deep").message(2, value))).bytes();
  const auto found = hyperparameters(bytes_of(content));
  REQUIRE(found.size() == 1);
  CHECK(found[0].json == std::string(64, '[') + "null" + std::string(64, ']'));
}

TEST_CASE("an outline reads the only value of an event, and no other") {
  const std::string bulk(100'000, 'e');
  const Message big =
      Message().text(1, "t").message(8, Message().varint(1, 4).message(2, shape_message({100, 1000})).text(4, bulk));
  const auto outline = [](const Message& event, ValueKinds kinds, std::string_view tag = "t") {
    static std::string payload;
    payload = event.bytes();
    const auto bytes = bytes_of(payload);
    const auto head = bytes.first(std::min(outline_head_bytes, bytes.size()));
    const auto place = find_content(head, bytes.size());
    REQUIRE(place);
    auto value = parse_outline(*place, head, bytes.subspan(place->offset + place->bytes), tag, kinds);
    return !value ? value.problem().text : !*value ? "load it" : shown(std::move(**value));
  };
  CHECK(outline(event_of(big), ValueKinds::summaries) == "uint8 100x1000: ");
  CHECK(outline(event_of(big), ValueKinds::tensors) == "uint8 100x1000: ");
  CHECK(outline(event_of(big), ValueKinds::summaries, "u") == "record holds tensor 't', not 'u'");
  const Message small = Message().text(1, "t").fixed32(2, 0);
  CHECK(outline(Message().message(5, Message().message(1, big).message(1, small)), ValueKinds::summaries) == "load it");
  CHECK(outline(Message().message(5, Message().message(1, small).message(1, big)), ValueKinds::summaries) == "load it");
  CHECK(outline(event_of(Message(big).text(8, "")), ValueKinds::summaries) == "load it");
  CHECK(outline(event_of(Message(big).fixed32(2, 0)), ValueKinds::summaries) == "load it");
  CHECK(outline(event_of(big).message(7, Message()).message(5, Message().message(1, small)), ValueKinds::summaries) ==
        "load it");
}
