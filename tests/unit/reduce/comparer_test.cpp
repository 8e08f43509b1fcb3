// SPDX-License-Identifier: Apache-2.0
// What differs between two values, element by element: each expected number is computed beside, from the definition.
#include <doctest/doctest.h>
#include <smd/difference.hpp>
#include <smd/error.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "each_instruction_set.hpp"
#include "values.hpp"

namespace {

using smd::Comparer;
using smd::Difference;
using smd::DifferenceOptions;
using smd::Dtype;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
class Value {
 public:
  Value(Dtype dtype, std::vector<T> elements)
      : dtype_(dtype), elements_(std::move(elements)), shape_{static_cast<std::int64_t>(elements_.size())} {}

  [[nodiscard]] smd::TensorView view() const { return part(0, elements_.size()); }
  [[nodiscard]] smd::TensorView part(std::size_t first, std::size_t count) const {
    part_shape_ = {static_cast<std::int64_t>(count)};
    return {dtype_, part_shape_, std::as_bytes(std::span(elements_).subspan(first, count))};
  }
  [[nodiscard]] const std::vector<T>& elements() const { return elements_; }

 private:
  Dtype dtype_;
  std::vector<T> elements_;
  smd::Shape shape_;
  mutable smd::Shape part_shape_;
};

template <class A, class B>
Difference difference(Dtype dtype_a, std::vector<A> a, Dtype dtype_b, std::vector<B> b,
                      const DifferenceOptions& options = {}) {
  Comparer comparer(options);
  comparer.add(Value<A>(dtype_a, std::move(a)).view(), Value<B>(dtype_b, std::move(b)).view());
  return comparer.result();
}

Difference of_doubles(std::vector<double> a, std::vector<double> b, const DifferenceOptions& options = {}) {
  return difference(Dtype::float64, std::move(a), Dtype::float64, std::move(b), options);
}

bool near(const std::optional<double>& got, long double wanted) {
  return got.has_value() && std::abs(static_cast<long double>(*got) - wanted) <= 1e-12L * std::abs(wanted);
}

TEST_CASE("statistics of a few pairs") {
  // d: 0 1 -2 0; |d|/|b|: 0, 1/1, 2/4, 0/0 = 0
  const Difference of = of_doubles({3, 2, 2, 0}, {3, 1, 4, 0});
  CHECK(of.size == 4);
  CHECK(of.differing == 2);
  CHECK(of.first == std::uint64_t{1});
  CHECK(of.same_dtype);
  CHECK(of.max_abs == 2.0);
  CHECK(of.max_rel == 1.0);
  CHECK(of.mean_abs == 3.0 / 4);
  CHECK(near(of.rmse, std::sqrt(5.0L / 4)));
  CHECK(near(of.l2_a, std::sqrt(17.0L)));  // 9 + 4 + 4
  CHECK(near(of.l2_b, std::sqrt(26.0L)));  // 9 + 1 + 16
  CHECK(near(of.l2_diff, std::sqrt(5.0L)));
  CHECK(near(of.rel_l2, std::sqrt(5.0L / 17)));
  CHECK(near(of.cosine, 19.0L / std::sqrt(17.0L * 26)));  // 9 + 2 + 8
}

TEST_CASE("tolerances: |a - b| <= atol + rtol |b|") {
  const std::vector<double> a = {1.5, 1.5, std::nextafter(1.5, 2)};
  const std::vector<double> b = {1, 2, 1};
  CHECK(of_doubles(a, b, {.atol = 0.5}).differing == 1);                 // the last, by one unit
  CHECK(of_doubles(a, b, {.rtol = 0.25}).differing == 2);                // 0.25, 0.5, 0.25 are allowed
  CHECK(of_doubles(a, b, {.rtol = 0.25, .atol = 0.25}).differing == 1);  // 0.5, 0.75, 0.5
  CHECK(of_doubles(a, b, {.atol = 1}).differing == 0);
  CHECK(of_doubles(a, b, {.atol = 1}).max_abs == std::nextafter(1.5, 2) - 1);  // of all pairs all the same
}

TEST_CASE("tolerances that are not finite or are negative are refused") {
  for (const double wrong : {nan_value, infinity, -infinity, -1.0}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS((Comparer({.rtol = wrong})), smd::InvalidArgument);
    CHECK_THROWS_AS((Comparer({.atol = wrong})), smd::InvalidArgument);
  }
  CHECK_NOTHROW(Comparer({.rtol = -0.0, .atol = std::numeric_limits<double>::max()}));
}

TEST_CASE("special numbers") {
  SUBCASE("NaN equals NaN unless told otherwise") {
    CHECK(of_doubles({nan_value, 1}, {nan_value, 1}).differing == 0);
    const Difference strict = of_doubles({nan_value, 1}, {nan_value, 1}, {.equal_nan = false});
    CHECK(strict.differing == 1);
    CHECK(strict.first == std::uint64_t{0});
    CHECK(strict.max_abs == infinity);
    CHECK(strict.l2_a == 1.0);
  }
  SUBCASE("a pair of which one number is not finite differs, and is in no sum") {
    const Difference of =
        of_doubles({1, infinity, 3, infinity, infinity}, {1, 2, nan_value, infinity, -infinity}, {.atol = 1e300});
    CHECK(of.differing == 3);
    CHECK(of.first == std::uint64_t{1});
    CHECK(of.max_abs == infinity);
    CHECK(of.max_rel == 0.0);
    CHECK(of.mean_abs == 0.0);
    CHECK(of.l2_b == 1.0);
  }
  SUBCASE("nothing finite, and nothing at all") {
    const Difference none = of_doubles({nan_value}, {nan_value});
    CHECK(none.max_abs == 0.0);
    CHECK(!none.mean_abs);
    CHECK(!none.cosine);
    const Difference empty = of_doubles({}, {});
    CHECK(empty.size == 0);
    CHECK(!empty.max_abs);
    CHECK(!empty.first);
  }
  SUBCASE("0 equals -0; dividing by 0") {
    CHECK(of_doubles({0.0, 1}, {-0.0, 1}).differing == 0);
    const Difference of = of_doubles({1, 0}, {0, 0});
    CHECK(of.max_rel == infinity);
    CHECK(of.rel_l2 == 1.0);
    CHECK(!of.cosine);
    CHECK(of_doubles({0, 0}, {1, 0}).rel_l2 == infinity);
    CHECK(of_doubles({0, 0}, {0, 0}).rel_l2 == 0.0);
  }
}

TEST_CASE("squares beyond the range of double") {
  const Difference large = of_doubles({3e200, 0}, {0, 4e200});
  CHECK(near(large.l2_a, 3e200L));
  CHECK(near(large.l2_diff, 5e200L));  // 3, 4, 5
  CHECK(large.cosine == 0.0);
  const Difference beyond = of_doubles({1.5e308, 1.5e308}, {1.5e308, 1.2e308});  // as are the norms
  CHECK(beyond.l2_a == infinity);
  CHECK(near(beyond.rel_l2, std::sqrt(0.02L)));  // 0.3^2 / (1.5^2 + 1.5^2)
  CHECK(!beyond.cosine);
  CHECK(!of_doubles({1, -1}, {1.5e308, 1.5e308}).cosine);
  const Difference small = of_doubles({3e-200, 0, 1e-250}, {0, 4e-200, 1e-250});
  CHECK(near(small.l2_b, 4e-200L));
  CHECK(near(small.l2_diff, 5e-200L));
  const double least = std::numeric_limits<double>::denorm_min();
  CHECK(of_doubles({least, 1}, {2 * least, 1}).l2_diff == least);
  // A small difference beside large numbers that are equal.
  CHECK(near(of_doubles({1e-200, 1}, {3e-200, 1}).l2_diff, 2e-200L));
  const double most = std::numeric_limits<double>::max();
  CHECK(of_doubles({most}, {-most}).max_abs == infinity);
  CHECK(of_doubles({most}, {-most}).differing == 1);
}

TEST_CASE("whole numbers are subtracted without rounding") {
  const std::int64_t large = std::int64_t{1} << 53;
  const Difference of =
      difference<std::int64_t, std::int64_t>(Dtype::int64, {large + 1, -5}, Dtype::int64, {large, -5});
  CHECK(of.differing == 1);
  CHECK(of.max_abs == 1.0);
  CHECK(of.l2_diff == 1.0);
  const std::uint64_t most = UINT64_MAX;
  CHECK(difference<std::uint64_t, std::uint64_t>(Dtype::uint64, {most}, Dtype::uint64, {most - 1}).max_abs == 1.0);
  CHECK(difference<std::int64_t, std::uint64_t>(Dtype::int64, {-1}, Dtype::uint64, {most}).max_abs == 0x1p64);
  CHECK(difference<std::int64_t, std::int32_t>(Dtype::int64, {7, 8}, Dtype::int32, {7, 8}).differing == 0);
  CHECK(!difference<std::int64_t, std::int32_t>(Dtype::int64, {7, 8}, Dtype::int32, {7, 8}).same_dtype);
}

TEST_CASE("whole numbers of 64 bits are subtracted from floating point without rounding") {
  // 2^53 + 1 is no double, 2^53 is; so are 2^63 and 2^64, of which the integers are one less.
  const Difference signed_ones = difference<std::int64_t, double>(
      Dtype::int64, {(std::int64_t{1} << 53) + 1, INT64_MAX, 5}, Dtype::float64, {0x1p53, 0x1p63, 5.25});
  CHECK(signed_ones.differing == 3);
  CHECK(signed_ones.first == 0);
  CHECK(signed_ones.max_abs == 1);
  CHECK(signed_ones.l2_diff == std::sqrt(2.0625));  // 1 + 1 + 1/16
  const Difference natural_ones = difference<float, std::uint64_t>(
      Dtype::float32, {0x1p64F, 3, static_cast<float>(infinity)}, Dtype::uint64, {UINT64_MAX, 3, 7});
  CHECK(natural_ones.differing == 2);
  CHECK(natural_ones.max_abs == infinity);
  CHECK(natural_ones.l2_diff == 1);
  CHECK(difference<std::int64_t, double>(Dtype::int64, {INT64_MIN}, Dtype::float64, {-0x1p63}).differing == 0);
}

TEST_CASE("element types") {
  SUBCASE("equal as numbers") {
    const Difference of = difference<float, double>(Dtype::float32, {0.5F, -2}, Dtype::float64, {0.5, -2});
    CHECK(of.differing == 0);
    CHECK(!of.same_dtype);
    CHECK(of.cosine == 1.0);
    CHECK(difference<float, double>(Dtype::float32, {0.1F}, Dtype::float64, {0.1}).differing == 1);
  }
  SUBCASE("short floating point: 1.5 and 1.0 as each type stores them") {
    for (const auto& [dtype, a, b] : {std::tuple{Dtype::float16, 0x3E00, 0x3C00}, {Dtype::bfloat16, 0x3FC0, 0x3F80}}) {
      const Difference of = difference<std::uint16_t, std::uint16_t>(
          dtype, {static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b)}, dtype,
          {static_cast<std::uint16_t>(b), static_cast<std::uint16_t>(b)});
      CHECK(of.max_abs == 0.5);
      CHECK(of.differing == 1);
      CHECK(near(of.l2_a, std::sqrt(3.25L)));
    }
    // e5m2: 1.0 is 0x3C, 1.5 is 0x3E; e4m3fn: 0x38, 0x3C; e8m0fnu: 2^(x - 127).
    CHECK(difference<std::uint8_t, std::uint8_t>(Dtype::float8_e5m2, {0x3E}, Dtype::float8_e5m2, {0x3C}).max_abs ==
          0.5);
    CHECK(difference<std::uint8_t, std::uint8_t>(Dtype::float8_e4m3fn, {0x3C}, Dtype::float8_e4m3fn, {0x38}).max_abs ==
          0.5);
    CHECK(difference<std::uint8_t, std::uint8_t>(Dtype::float8_e8m0fnu, {129}, Dtype::float8_e8m0fnu, {127}).max_abs ==
          3.0);
  }
  SUBCASE("booleans count as 0 and 1, quantised numbers as integers") {
    const Difference of = difference<std::uint8_t, std::uint8_t>(Dtype::boolean, {1, 0, 1}, Dtype::boolean, {1, 1, 1});
    CHECK(of.max_abs == 1.0);
    CHECK(of.first == std::uint64_t{1});
    CHECK(difference<std::int8_t, std::int8_t>(Dtype::qint8, {-128}, Dtype::qint8, {127}).max_abs == 255.0);
  }
  SUBCASE("complex numbers by their moduli") {
    using Complex = std::complex<float>;
    const Difference of =
        difference<Complex, Complex>(Dtype::complex64, {{1, 2}, {3, 4}}, Dtype::complex64, {{1, 2}, {0, 0}});
    CHECK(of.differing == 1);
    CHECK(of.max_abs == 5.0);
    CHECK(near(of.l2_a, std::sqrt(30.0L)));
    CHECK(near(of.cosine, 5.0L / std::sqrt(30.0L * 5)));
    // |b| is beyond the range of double, and |a - b| is a third of it; then |a - b| is beyond, and twice |b|.
    using Wide = std::complex<double>;
    const std::tuple<Wide, Wide, double> pairs[] = {{{1e308, 1e308}, {1.5e308, 1.5e308}, 1.0 / 3},
                                                    {{1.5e308, 0}, {-1.5e308, 0}, 2}};
    for (const auto& [a, b, ratio] : pairs) {
      for (const double rtol : {0.0, ratio - 0.01, ratio + 0.01}) {
        const Difference wide = difference<Wide, Wide>(Dtype::complex128, {a}, Dtype::complex128, {b}, {.rtol = rtol});
        CHECK(wide.differing == (rtol < ratio ? 1 : 0));
        CHECK(near(wide.max_rel, ratio));
      }
    }
  }
  SUBCASE("text") {
    const auto packed = [](const std::vector<std::string>& texts) {
      std::vector<char> bytes;
      for (const std::string& text : texts) {
        const auto size = static_cast<std::uint32_t>(text.size());
        const char* const from = reinterpret_cast<const char*>(&size);
        bytes.insert(bytes.end(), from, from + sizeof size);
        bytes.insert(bytes.end(), text.begin(), text.end());
      }
      return bytes;
    };
    const smd::Shape shape = {3};
    const std::vector<char> a = packed({"x", "yes", ""});
    const std::vector<char> b = packed({"x", "no", ""});
    Comparer comparer;
    comparer.add({Dtype::string, shape, std::as_bytes(std::span(a))},
                 {Dtype::string, shape, std::as_bytes(std::span(b))});
    const Difference of = comparer.result();
    CHECK(of.size == 3);
    CHECK(of.differing == 1);
    CHECK(of.first == std::uint64_t{1});
    CHECK(!of.max_abs);
    const std::array<float, 3> numbers = {};
    comparer.clear();
    comparer.add({Dtype::string, shape, std::as_bytes(std::span(a))},
                 {Dtype::float32, shape, std::as_bytes(std::span(numbers))});
    CHECK(comparer.result().differing == 3);
    CHECK(!comparer.result().max_abs);
  }
  SUBCASE("text beside numbers") {
    const smd::Shape shape = {1};
    const std::vector<char> text = {1, 0, 0, 0, 'x'};
    for (const bool sums_of_equal : {true, false}) {
      Comparer pool({.sums_of_equal = sums_of_equal});
      const Value<float> a(Dtype::float32, {3, 4});
      const Value<float> b(Dtype::float32, {3, 2});
      pool.add({Dtype::string, shape, std::as_bytes(std::span(text))},
               {Dtype::string, shape, std::as_bytes(std::span(text))});
      Comparer numbers;
      numbers.add(a.view(), b.view());
      pool.merge(numbers);
      const Difference of = pool.result();
      CHECK(of.size == 3);
      CHECK(of.differing == 1);
      CHECK(of.first == std::uint64_t{2});
      CHECK(of.max_abs == 2.0);
      CHECK(of.l2_a == 5.0);
    }
  }
  SUBCASE("sizes must be the same") {
    Comparer comparer;
    const Value<float> two(Dtype::float32, {1, 2});
    const Value<float> one(Dtype::float32, {1});
    CHECK_THROWS_AS(comparer.add(two.view(), one.view()), smd::InvalidArgument);
  }
}

/// Statistics by their definition, in extended precision.
template <class T>
Difference by_definition(const std::vector<T>& a, const std::vector<T>& b, double rtol, double atol) {
  Difference of;
  long double magnitude = 0;
  long double square = 0;
  long double square_a = 0;
  long double square_b = 0;
  long double product = 0;
  of.max_abs = of.max_rel = 0;
  for (std::size_t i = 0; i < a.size(); ++i, ++of.size) {
    const auto x = static_cast<double>(a[i]);
    const auto y = static_cast<double>(b[i]);
    const double d = std::abs(x - y);
    if (d > atol + rtol * std::abs(y)) {
      ++of.differing;
      of.first = of.first.value_or(i);
    }
    of.max_abs = std::max(*of.max_abs, d);
    of.max_rel = std::max(*of.max_rel, d == 0 ? 0 : d / std::abs(y));
    using Wide = long double;
    magnitude += Wide{d};
    square += Wide{d} * Wide{d};
    square_a += Wide{x} * Wide{x};
    square_b += Wide{y} * Wide{y};
    product += Wide{x} * Wide{y};
  }
  const auto n = static_cast<long double>(a.size());
  of.mean_abs = static_cast<double>(magnitude / n);
  of.rmse = static_cast<double>(std::sqrt(square / n));
  of.l2_a = static_cast<double>(std::sqrt(square_a));
  of.l2_b = static_cast<double>(std::sqrt(square_b));
  of.l2_diff = static_cast<double>(std::sqrt(square));
  of.rel_l2 = static_cast<double>(std::sqrt(square / square_a));
  of.cosine = static_cast<double>(product / std::sqrt(square_a) / std::sqrt(square_b));
  return of;
}

void check_near(const Difference& got, const Difference& wanted) {
  CHECK(got.size == wanted.size);
  CHECK(got.differing == wanted.differing);
  CHECK(got.first == wanted.first);
  CHECK(got.max_abs == wanted.max_abs);
  for (const auto member : {&Difference::max_rel, &Difference::mean_abs, &Difference::rmse, &Difference::l2_a,
                            &Difference::l2_b, &Difference::l2_diff, &Difference::rel_l2, &Difference::cosine}) {
    CHECK(near(got.*member, static_cast<long double>((wanted.*member).value())));
  }
}

template <class T>
std::vector<T> numbers(smd_test::Random& random, std::size_t n) {
  std::vector<T> values(n);
  for (T& value : values) {
    value = static_cast<T>(random.number());
  }
  return values;
}

TEST_CASE("long values of every length, with every instruction set") {
  smd_test::with_each_instruction_set([] {
    smd_test::Random random(22);
    for (const std::size_t n : {1U, 2U, 3U, 7U, 16U, 31U, 100U, 8191U, 8193U, 30000U}) {
      CAPTURE(n);
      const std::vector<float> a = numbers<float>(random, n);
      std::vector<float> b = a;
      for (std::size_t i = random.below(n); i < n; i += 1 + random.below(5)) {
        b[i] += static_cast<float>(random.number() * 1e-3);
      }
      for (const double rtol : {0.0, 1e-4}) {
        const DifferenceOptions options = {.rtol = rtol, .atol = rtol / 8};
        check_near(difference(Dtype::float32, a, Dtype::float32, b, options),
                   by_definition(a, b, options.rtol, options.atol));
        const std::vector<double> wide_a(a.begin(), a.end());
        const std::vector<double> wide_b(b.begin(), b.end());
        check_near(of_doubles(wide_a, wide_b, options), by_definition(a, b, options.rtol, options.atol));
        check_near(difference(Dtype::float32, a, Dtype::float64, wide_b, options),
                   by_definition(a, b, options.rtol, options.atol));
      }
    }
  });
}

TEST_CASE("a special number in a long value costs only itself") {
  smd_test::Random random(7);
  std::vector<float> a = numbers<float>(random, 20000);
  std::vector<float> b = numbers<float>(random, 20000);
  std::vector<float> rest_a = a;
  std::vector<float> rest_b = b;
  constexpr std::size_t place = 12345;
  a[place] = std::numeric_limits<float>::quiet_NaN();
  rest_a.erase(rest_a.begin() + place);
  rest_b.erase(rest_b.begin() + place);
  Difference wanted = by_definition(rest_a, rest_b, 0, 0);
  ++wanted.size;
  ++wanted.differing;
  wanted.max_abs = infinity;
  check_near(difference(Dtype::float32, a, Dtype::float32, b), wanted);
}

TEST_CASE("merged parts are the same as the whole, in any order of work") {
  smd_test::Random random(3);
  const Value<float> a(Dtype::float32, numbers<float>(random, 50000));
  std::vector<float> changed = a.elements();
  changed[17001] = 5;
  changed[40000] = -3;
  const Value<float> b(Dtype::float32, changed);
  constexpr std::size_t run = 10000;
  Comparer whole;
  std::vector<Comparer> parts;
  for (std::size_t at = 0; at < changed.size(); at += run) {
    whole.add(a.part(at, run), b.part(at, run));
    parts.emplace_back().add(a.part(at, run), b.part(at, run));
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    parts[0].merge(parts[i]);
  }
  const Difference one = whole.result();
  const Difference other = parts[0].result();
  CHECK(one.first == std::uint64_t{17001});
  CHECK(other.first == one.first);
  for (const auto member : {&Difference::max_abs, &Difference::max_rel, &Difference::mean_abs, &Difference::rmse,
                            &Difference::l2_a, &Difference::l2_b, &Difference::l2_diff, &Difference::cosine}) {
    CHECK(one.*member == other.*member);
  }
}

TEST_CASE("equal runs left out of the sums") {
  const Value<float> same(Dtype::float32, {1, 2, 3});
  const Value<float> other(Dtype::float32, {1, 2, 5});
  Comparer comparer({.sums_of_equal = false});
  comparer.add(same.view(), same.view());
  CHECK(comparer.equal_bytes());
  CHECK(!comparer.complete());
  CHECK(!comparer.result().l2_a);
  CHECK(comparer.result().max_abs == 0.0);
  comparer.add(same.view(), other.view());
  comparer.add(same.view(), same.view());  // counts: a run before it differed
  CHECK(!comparer.equal_bytes());
  CHECK(!comparer.complete());
  CHECK(comparer.result().first == std::uint64_t{5});
  Comparer full;
  full.add(same.view(), same.view());
  CHECK(full.complete());
  CHECK(near(full.result().l2_a, std::sqrt(14.0L)));
}

}  // namespace
