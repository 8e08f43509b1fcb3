// SPDX-License-Identifier: Apache-2.0
// Reductions that follow NumPy or the recorded reference, and complex numbers.
#include <doctest/doctest.h>
#include <smd/reduction.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alone.hpp"
#include "each_instruction_set.hpp"
#include "values.hpp"

namespace {

using smd::Dtype;

template <class T>
smd::ReducedValue reduced(Dtype dtype, std::span<const T> values, const char* name) {
  const smd::Reduction reduction = smd::parse_reduction(name).value();
  smd::Reducer reducer(std::span(&reduction, 1));
  reducer.add(dtype, std::as_bytes(values));
  return reducer.result(reduction);
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("sums and squares beyond the range of double are infinite, as in NumPy") {
  // Trial special_floats, tensor w/float64/overflow.
  const double huge[] = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  for (const char* name : {"mean", "std", "variance", "sum", "prod", "abs_mean", "abs_std", "l1", "l2", "rms"}) {
    CAPTURE(name);
    CHECK(reduced<double>(Dtype::float64, huge, name).real == infinity);
  }
  // The same trial, w/float64/denormals: 5e-324 times 1 to 8. Squares underflow.
  double tiny[8];
  for (int k = 0; k < 8; ++k) {
    tiny[k] = 5e-324 * (k + 1);
  }
  CHECK(reduced<double>(Dtype::float64, tiny, "mean").real == 2e-323);
  CHECK(reduced<double>(Dtype::float64, tiny, "sum").real == 1.8e-322);
  for (const char* name : {"std", "variance", "prod", "l2", "rms"}) {
    CAPTURE(name);
    CHECK(reduced<double>(Dtype::float64, tiny, name).real == 0);
  }
}

TEST_CASE("complex numbers as recorded") {
  // Trial dtypes, tensor complex128/1; trial special_floats, tensor w/complex128/wild.
  using Complex = std::complex<double>;
  const Complex one[] = {{-0.08822516196121168, 0.5723921786850087}};
  for (const char* name : {"abs_min", "abs_max", "abs_mean", "abs_sum", "abs_prod", "l1", "l2"}) {
    CAPTURE(name);
    CHECK(smd_test::ulps(reduced<Complex>(Dtype::complex128, one, name).real, 0.5791515219895852) <= 1);
  }
  CHECK(smd::to_string(reduced<Complex>(Dtype::complex128, one, "mean")) ==
        "(-0.08822516196121168,0.5723921786850087)");
  for (const char* name : {"min", "max", "prod", "median", "p5", "negative"}) {
    CAPTURE(name);
    CHECK(reduced<Complex>(Dtype::complex128, one, name).kind == smd::ReducedValue::Kind::undefined);
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Complex wild[] = {{nan, 1}, {0, -0.0}, {infinity, -infinity}};
  CHECK(smd::to_string(reduced<Complex>(Dtype::complex128, wild, "sum")) == "(nan,-inf)");
  CHECK(smd::to_string(reduced<Complex>(Dtype::complex128, wild, "mean")) == "(nan,nan)");
  CHECK(smd::to_string(reduced<Complex>(Dtype::complex128, wild, "abs_max")) == "nan");
  CHECK(reduced<Complex>(Dtype::complex128, wild, "zero").low == 1);
  CHECK(reduced<Complex>(Dtype::complex128, wild, "nan").low == 1);
  CHECK(reduced<Complex>(Dtype::complex128, wild, "inf").low == 1);
  // np.isfinite judges the parts, though |x| is beyond the range of double.
  const Complex large[] = {{1.7e308, -1.7e308}, {1, 0}};
  CHECK(reduced<Complex>(Dtype::complex128, large, "finite").low == 2);
  CHECK(reduced<Complex>(Dtype::complex128, large, "inf").low == 0);
  CHECK(std::isinf(reduced<Complex>(Dtype::complex128, large, "abs_max").real));
}

TEST_CASE("variance of complex numbers is that of both parts added") {
  // |z - mean|^2 of 0, 3+4i, 6+8i about 3+4i: 25, 0, 25. Moduli 0, 5, 10: mean 5, squares 25, 0, 25.
  const std::complex<float> numbers[] = {{0, 0}, {3, 4}, {6, 8}};
  using Complex = std::complex<float>;
  CHECK(reduced<Complex>(Dtype::complex64, numbers, "variance").real == 50.0 / 3);
  CHECK(reduced<Complex>(Dtype::complex64, numbers, "abs_variance").real == 50.0 / 3);
  CHECK(reduced<Complex>(Dtype::complex64, numbers, "l2").real == std::sqrt(125.0));
  CHECK(reduced<Complex>(Dtype::complex64, numbers, "l1").real == 15);
  CHECK(smd::to_string(reduced<Complex>(Dtype::complex64, numbers, "sum")) == "(9,12)");
}

TEST_CASE("median and percentiles of the moduli of complex numbers") {
  using Complex = std::complex<float>;
  std::vector<smd::Reduction> wanted;
  for (const char* name : {"abs_median", "abs_p25", "abs_p100", "median", "p25"}) {
    wanted.push_back(smd::parse_reduction(name).value());
  }
  std::vector<smd::ReducedValue> results(wanted.size());
  SUBCASE("all at once, and in merged parts") {
    const Complex numbers[] = {{6, 8}, {0, 0}, {-3, 4}, {5, -12}};  // moduli: 10, 0, 5, 13
    const std::int64_t size = 4;
    const auto bytes = std::as_bytes(std::span(numbers));
    smd::Reducer first(wanted);
    first.add(Dtype::complex64, bytes.first(sizeof(Complex)));
    smd::Reducer rest(wanted);
    rest.add(Dtype::complex64, bytes.subspan(sizeof(Complex)));
    first.merge(std::move(rest));
    first.results(results);
    for (const auto& found : {smd::reduce(smd::TensorView(Dtype::complex64, {&size, 1}, bytes), wanted), results}) {
      CHECK(found[0].real == 7.5);   // between 5 and 10
      CHECK(found[1].real == 3.75);  // the place 0.75, between 0 and 5
      CHECK(found[2].real == 13);
      CHECK(found[3].kind == smd::ReducedValue::Kind::undefined);
      CHECK(found[4].kind == smd::ReducedValue::Kind::undefined);
    }
  }
  SUBCASE("of long values, in blocks that end anywhere") {
    std::vector<Complex> numbers;
    for (int i = 0; i <= 200'000; ++i) {
      numbers.emplace_back(0.0F, static_cast<float>(-i));
    }
    smd::Reducer reducer(wanted);
    for (std::size_t at = 0; at < numbers.size(); at += 70'001) {
      const std::size_t part = std::min<std::size_t>(70'001, numbers.size() - at);
      reducer.add(Dtype::complex64, std::as_bytes(std::span(numbers).subspan(at, part)));
    }
    const std::vector<Complex> zeros(200'000);
    reducer.add(Dtype::complex64, std::as_bytes(std::span(zeros)));
    reducer.results(results);
    CHECK(results[0].real == 0);  // 200,001 of 400,001 are zeros
    CHECK(results[1].real == 0);
    CHECK(results[2].real == 200'000);
  }
  SUBCASE("NaN, infinity, and a modulus beyond the range of double") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double most = std::numeric_limits<double>::max();
    const std::complex<double> numbers[] = {{nan, infinity}, {3, 4}, {0, 1}, {most, most}, {-2, 0}};
    const auto bytes = std::as_bytes(std::span(numbers));
    for (const bool omit_nan : {false, true}) {
      smd::Reducer reducer(wanted, {.omit_nan = omit_nan});
      reducer.add(Dtype::complex128, bytes);
      reducer.results(results);
      CHECK(smd::to_string(results[0]) == (omit_nan ? "3.5" : "nan"));   // between 2 and 5
      CHECK(smd::to_string(results[1]) == (omit_nan ? "1.75" : "nan"));  // the place 0.75, between 1 and 2
    }
  }
  SUBCASE("with real numbers, and of none") {
    smd::Reducer reducer(wanted);
    reducer.add(Dtype::complex64, {});
    reducer.results(results);
    CHECK(std::isnan(results[0].real));
    const Complex number(3, 4);
    const std::int32_t integer = -7;
    reducer.add(Dtype::complex64, std::as_bytes(std::span(&number, 1)));
    reducer.add(Dtype::int32, std::as_bytes(std::span(&integer, 1)));
    reducer.results(results);
    CHECK(results[0].real == 6);  // between 5 and 7
    CHECK(results[3].kind == smd::ReducedValue::Kind::undefined);
  }
}

TEST_CASE("long runs of 8-bit integers") {
  smd_test::with_each_instruction_set([&] {
    smd_test::Random random(3);
    std::vector<std::uint8_t> bytes(20011);
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(random.bits());
    }
    for (const Dtype dtype : {Dtype::int8, Dtype::uint8, Dtype::boolean}) {
      // Integer arithmetic: n * squares - sum^2 is n^2 times the variance.
      std::int64_t sum = 0;
      std::int64_t size = 0;
      std::int64_t squares = 0;
      for (const std::uint8_t byte : bytes) {
        const int value = dtype == Dtype::int8 ? static_cast<std::int8_t>(byte)
                                               : (dtype == Dtype::uint8 ? int{byte} : int{byte != 0});
        sum += value;
        size += std::abs(value);
        squares += value * value;
      }
      std::vector<smd::Reduction> list;
      for (const char* name : {"min", "max", "sum", "l1", "variance", "abs_variance", "l2"}) {
        list.push_back(smd::parse_reduction(name).value());
      }
      const auto n = static_cast<std::int64_t>(bytes.size());
      const auto found = smd::reduce({dtype, {&n, 1}, std::as_bytes(std::span(bytes))}, list);
      // Twenty thousand random bytes contain every value.
      CHECK(found[0].real == (dtype == Dtype::int8 ? -128 : 0));
      CHECK(found[1].real == (dtype == Dtype::int8 ? 127 : (dtype == Dtype::uint8 ? 255 : 1)));
      CHECK(found[2].real == static_cast<double>(sum));
      CHECK(found[3].real == static_cast<double>(size));
      const auto square = static_cast<double>(n) * static_cast<double>(n);
      CHECK(smd_test::ulps(found[4].real, static_cast<double>(n * squares - sum * sum) / square) <= 1);
      CHECK(smd_test::ulps(found[5].real, static_cast<double>(n * squares - size * size) / square) <= 1);
      CHECK(found[6].real == std::sqrt(static_cast<double>(squares)));
      smd_test::check_alone({dtype, {&n, 1}, std::as_bytes(std::span(bytes))}, list, found);
    }
  });
}

TEST_CASE("bytes beyond the shape, and shapes beyond the bytes, are not read") {
  const float values[] = {1, 2, 4};
  const smd::Reduction sum = {smd::ReductionKind::sum};
  const std::int64_t two[] = {2};
  const std::int64_t nine[] = {9};
  const auto bytes = std::as_bytes(std::span(values));
  CHECK(smd::reduce({Dtype::float32, two, bytes}, std::span(&sum, 1)).front().real == 3);
  CHECK(smd::reduce({Dtype::float32, nine, bytes}, std::span(&sum, 1)).front().real == 7);
}
