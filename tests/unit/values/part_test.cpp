// SPDX-License-Identifier: Apache-2.0
// Elements at strides: views of a storage, as PyTorch saves them, and parts of values.
#include "opened.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <numeric>

namespace smd::test {
namespace {

using detail::values::Reader;
using Numbers = std::vector<std::int32_t>;

/// A file with the numbers 0, 1, 2, … after 10 other bytes.
struct Counting {
  explicit Counting(std::size_t count) : store("f", text(count)) {}

  static std::string text(std::size_t count) {
    Numbers numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return std::string(10, 'x') + std::string(reinterpret_cast<const char*>(numbers.data()), count * 4);
  }
  /// A view of the numbers from `first` on, `span` elements from its first to its last one.
  static Place view(std::uint64_t first, std::uint64_t span, Shape shape, std::vector<std::int64_t> strides) {
    return place_of("f", 10 + 4 * first, 4 * span,
                    ValueType{.form = ValueForm::elements,
                              .dtype = Dtype::int32,
                              .shape = std::move(shape),
                              .strides = std::move(strides)});
  }

  Store store;
};

Numbers numbers_of(std::span<const std::byte> bytes) {
  Numbers numbers(bytes.size() / 4);
  if (!numbers.empty()) {
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
  }
  return numbers;
}

/// The elements by the definition of strides.
Numbers by_definition(const Shape& shape, const std::vector<std::int64_t>& strides, std::int64_t first) {
  Numbers numbers;
  std::vector<std::int64_t> index(shape.size(), 0);
  const auto count = element_count(shape).value();
  for (std::uint64_t n = 0; n < count; ++n) {
    numbers.push_back(
        static_cast<std::int32_t>(std::inner_product(index.begin(), index.end(), strides.begin(), first)));
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) {
        break;
      }
      index[axis] = 0;
    }
  }
  return numbers;
}

/// Reads an open value in each way.
void check(Reader& reader, const Shape& shape, const Numbers& expected) {
  CHECK(reader.shape() == shape);
  REQUIRE(reader.size() == expected.size());
  Numbers by_blocks;
  CHECK(reader.for_each_block([&](std::span<const std::byte> bytes) {
    const Numbers some = numbers_of(bytes);
    by_blocks.insert(by_blocks.end(), some.begin(), some.end());
  }));
  CHECK(by_blocks == expected);
  const auto value = reader.value();
  REQUIRE(value);
  CHECK(numbers_of(value->bytes()) == expected);
  for (std::size_t first = 0; first < expected.size(); first += expected.size() / 7 + 1) {
    Numbers some(std::min<std::size_t>(5, expected.size() - first));
    REQUIRE(reader.read(first, std::as_writable_bytes(std::span(some))));
    CHECK(some == Numbers(expected.begin() + static_cast<std::ptrdiff_t>(first),
                          expected.begin() + static_cast<std::ptrdiff_t>(first + some.size())));
  }
}

}  // namespace

TEST_CASE("views of a storage: contiguous, transposed, expanded, with gaps, without elements") {
  const Counting counting(3'000'000);
  struct View {
    std::uint64_t first;
    std::uint64_t span;
    Shape shape;
    std::vector<std::int64_t> strides;
  };
  for (const View& view :
       {View{0, 24, {2, 3, 4}, {12, 4, 1}}, View{5, 24, {4, 6}, {1, 4}}, View{5, 24, {4, 3, 2}, {1, 4, 12}},
        View{7, 4, {3, 4}, {0, 1}}, View{7, 3, {3, 2}, {1, 0}}, View{1, 91, {4, 2}, {20, 30}}, View{9, 1, {}, {}},
        View{2, 1, {1, 1}, {99, 7}}, View{0, 0, {3, 0}, {5, 1}}, View{100, 3, {3}, {1}},
        // larger than what is gathered at a time
        View{0, 2'400'000, {1200, 2000}, {1, 1200}}, View{0, 2'999'001, {3000, 2}, {1000, 0}},
        View{3, 2'900'000, {2'900'000}, {1}}}) {
    CAPTURE(to_string(view.shape));
    Reader reader = counting.store.reader(true, view.shape.size() == 2 ? 3 : 1);
    const Place place = Counting::view(view.first, view.span, view.shape, view.strides);
    const detail::Status opened = reader.open(place, {});
    REQUIRE_MESSAGE(opened, opened.problem().text);
    Numbers expected = by_definition(view.shape, view.strides, static_cast<std::int64_t>(view.first));
    check(reader, view.shape, expected);
    // The order of the file is that of the numbers; of two axes whose rows interleave, one goes first.
    REQUIRE(reader.open(place, {}));
    reader.in_any_order();
    if (view.strides == std::vector<std::int64_t>{20, 30}) {
      expected = by_definition({2, 4}, {30, 20}, 1);
    } else {
      std::sort(expected.begin(), expected.end());
    }
    check(reader, reader.shape(), expected);
  }
}

TEST_CASE("strides that do not fit the bytes are damage") {
  const Counting counting(100);
  Reader reader = counting.store.reader();
  for (const Place& place :
       {Counting::view(0, 24, {4, 6}, {1, 5}), Counting::view(0, 24, {4, 6}, {1, -4}),
        Counting::view(0, 24, {4, 6}, {4}), Counting::view(0, 24, {4, INT64_MAX}, {1, INT64_MAX}),
        Counting::view(0, 25, {4, 6}, {1, 4}), Counting::view(0, 1, {INT64_MAX, INT64_MAX}, {0, 0})}) {
    const detail::Status opened = reader.open(place, {});
    REQUIRE_FALSE(opened);
    CHECK(opened.problem().kind == ProblemKind::damaged);
    CHECK(opened.problem().file == "f");
    CHECK(opened.problem().offset == 10);
  }
  CHECK(reader.open(Counting::view(90, 11, {11}, {1}), {}).problem().kind == ProblemKind::not_yet);
}

TEST_CASE("parts of a value, in whichever order its elements are wanted") {
  const Counting counting(3'000'000);
  Reader reader = counting.store.reader();
  // numpy.arange(24).reshape(2, 3, 4)[slice], and the same of its transposed form.
  const Place place = Counting::view(0, 24, {2, 3, 4}, {});
  const auto part = [&](const StridedPart& of) {
    REQUIRE(reader.open(place, {}));
    reader.narrow(of);
    return numbers_of(reader.value().value().bytes());
  };
  CHECK(part({{2, 2}, {-12, -2}, 19}) == Numbers{19, 17, 7, 5});                     // [::-1, 1, ::-2]
  CHECK(part({{3}, {4}, 14}) == Numbers{14, 18, 22});                                // [1, :, 2]
  CHECK(part({{2, 2, 2}, {12, -4, 1}, 9}) == Numbers{9, 10, 5, 6, 21, 22, 17, 18});  // [:, 2:0:-1, 1:3]
  CHECK(part({{}, {}, 23}) == Numbers{23});                                          // [-1, -1, -1]
  REQUIRE(reader.open(place, {}));
  reader.narrow({{2, 2, 2}, {12, -4, 1}, 9});
  reader.in_any_order();
  CHECK(numbers_of(reader.value().value().bytes()) == Numbers{5, 6, 9, 10, 17, 18, 21, 22});
  CHECK(part({{2, 0, 4}, {0, 0, 0}, 0}).empty());  // [:, 3:]
  REQUIRE(reader.open(place, {}));
  reader.narrow({{2, 3, 4}, {12, 4, -1}, 3});  // [..., ::-1]
  check(reader, {2, 3, 4}, by_definition({2, 3, 4}, {12, 4, -1}, 3));

  // Element [i, j] of the view is 4 j + i; [2:0:-1, ::2] of it, whose C order counts 6 elements a row.
  const Place transposed = Counting::view(0, 24, {4, 6}, {1, 4});
  REQUIRE(reader.open(transposed, {}));
  reader.narrow({{2, 3}, {-6, 2}, 12});
  check(reader, {2, 3}, {2, 10, 18, 1, 9, 17});

  // Parts that go along two axes at once, or from row to row.
  const auto of_view = [&](const StridedPart& of) {
    REQUIRE(reader.open(transposed, {}));
    reader.narrow(of);
    return numbers_of(reader.value().value().bytes());
  };
  CHECK(of_view({{4}, {7}, 0}) == Numbers{0, 5, 10, 15});  // its diagonal
  CHECK(of_view({{4}, {5}, 3}) == Numbers{12, 9, 6, 3});   // the other one, from [0, 3]
  CHECK(of_view({{8}, {3}, 0}) == Numbers{0, 12, 1, 13, 2, 14, 3, 15});
  CHECK(of_view({{6}, {-1}, 9}) == Numbers{13, 9, 5, 1, 20, 16});
  REQUIRE(reader.open(place, {}));
  reader.narrow({{3, 4}, {4, 1}, 12});
  reader.narrow({{3}, {5}, 0});
  check(reader, {3}, {12, 17, 22});

  // Rows far apart, and a whole value backwards.
  const Place large = Counting::view(0, 3'000'000, {1000, 3000}, {});
  REQUIRE(reader.open(large, {}));
  reader.narrow({{500, 2}, {6000, -1}, 2999});
  check(reader, {500, 2}, by_definition({500, 2}, {6000, -1}, 2999));
  REQUIRE(reader.open(large, {}));
  reader.narrow({{3'000'000}, {-1}, 2'999'999});
  check(reader, {3'000'000}, by_definition({3'000'000}, {-1}, 2'999'999));
}

TEST_CASE("transposed parts, of which each row in the file has some") {
  const Counting counting(3'000'000);
  Reader reader = counting.store.reader(true, 3);
  struct Part {
    Shape shape;
    std::vector<std::int64_t> strides;
    std::int64_t offset;
  };
  for (const Part& part :
       {Part{{300, 37}, {1, 6000}, 5}, Part{{300, 16}, {1, 6000}, 0}, Part{{90, 53}, {-2, 6000}, 400},
        Part{{100, 37}, {1, -6000}, 36 * 6000}, Part{{3, 200, 50}, {150'000, 1, 3000}, 17},
        Part{{200, 3, 50}, {1, 150'000, 3000}, 17}, Part{{2500, 400}, {1, 6000}, 500},
        // rows that lie close, and rows that lie nearly so
        Part{{700, 90}, {1, 1500}, 3}, Part{{700, 90}, {1, 1724}, 3}, Part{{700, 90}, {1, 1725}, 3}}) {
    CAPTURE(to_string(part.shape));
    CAPTURE(part.strides.back());
    const Place place = Counting::view(0, 3'000'000, {500, 6000}, {});
    REQUIRE(reader.open(place, {}));
    reader.narrow({part.shape, part.strides, part.offset});
    check(reader, part.shape, by_definition(part.shape, part.strides, part.offset));
  }
}

TEST_CASE("a part of a sparse file of many gigabytes reads only that part") {
  constexpr std::uint64_t bytes = std::uint64_t{64} << 30;
  Store store("f", "x");
  REQUIRE(::truncate((store.dir / "f").c_str(), static_cast<off_t>(bytes)) == 0);
  auto opened = detail::storage::open_local(store.dir.path());
  REQUIRE(opened);
  int asked = 0;  // between blocks of at most 8 MiB
  Reader reader(**opened, true, detail::wire::ValueKinds::tensors, {1, [&] {
                                                                      ++asked;
                                                                      return false;
                                                                    }});
  const auto rows = static_cast<std::int64_t>(bytes / 4096);
  const Place place =
      place_of("f", 0, bytes, ValueType{.form = ValueForm::elements, .dtype = Dtype::float32, .shape = {rows, 1024}});
  REQUIRE(reader.open(place, {}));
  reader.narrow({{2, 1024}, {1024, 1}, 5 * 1024});  // [5:7]
  const auto value = reader.value();
  REQUIRE(value);
  CHECK(value->bytes().size() == 8192);
  CHECK(std::all_of(value->bytes().begin(), value->bytes().end(), [](std::byte byte) { return byte == std::byte{0}; }));
  CHECK(asked < 5);
}

TEST_CASE("short neighbours are read together, and are the same") {
  const Counting counting(10'000);
  Reader reader = counting.store.reader();
  std::vector<Place> places;
  for (std::uint64_t i = 0; i < 100; ++i) {
    places.push_back(Counting::view(i * 70, 64, {64}, {}));
  }
  const std::uint64_t end = places.back().offset + places.back().length;
  for (const Place& place : places) {
    REQUIRE(reader.open(place, {}, {.more = true, .together = end, .reach = end}));
    CHECK(numbers_of(reader.view(0, 64)) ==
          by_definition({64}, {1}, static_cast<std::int64_t>((place.offset - 10) / 4)));
  }
  // What is announced may not be there.
  REQUIRE(reader.open(places.front(), {}, {.more = true, .together = end + 1'000'000, .reach = end + 1'000'000}));
  CHECK(reader.view(0, 64).size() == 256);
}

}  // namespace smd::test
