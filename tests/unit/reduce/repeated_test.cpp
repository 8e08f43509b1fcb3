// SPDX-License-Identifier: Apache-2.0
// Equal elements: as many as a shape has, without that many additions.
#include <smd/reduction.hpp>
#include <smd/value_reader.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace {

using smd::Dtype;

double reduced(smd::Reducer& reducer, const char* name) {
  return reducer.result(smd::parse_reduction(name).value()).real;
}

smd::Reducer make(const std::vector<const char*>& names) {
  std::vector<smd::Reduction> wanted;
  for (const char* name : names) {
    wanted.push_back(smd::parse_reduction(name).value());
  }
  return smd::Reducer(wanted);
}

/// An open value whose only stored element is repeated.
class Repeated final : public smd::Extent {
 public:
  Repeated(Dtype dtype, std::span<const std::byte> element, std::uint64_t size) : element_(element) {
    dtype_ = dtype;
    size_ = size;
    repeats_ = size - 1;
  }

  std::span<const std::byte> view(std::uint64_t first, std::uint64_t /*at_most*/) override {
    return first == 0 ? element_ : std::span<const std::byte>();
  }
  bool read(std::uint64_t /*first*/, std::span<std::byte> /*into*/) override { return false; }
  std::optional<smd::TensorValue> value() override { return std::nullopt; }
  void narrow(const smd::StridedPart& /*part*/) override {}
  void in_any_order() noexcept override {}
  void trust() noexcept override {}
  void verify_while_reading(std::uint64_t /*first*/, std::uint64_t /*count*/) noexcept override {}

 private:
  std::span<const std::byte> element_;
};

template <class T>
void add_repeated(smd::Reducer& reducer, Dtype dtype, const T& element, std::uint64_t size) {
  Repeated value(dtype, std::as_bytes(std::span(&element, 1)), size);
  CHECK(reducer.add(value));
}

}  // namespace

TEST_CASE("a repeated element counts once for each repetition") {
  smd::Reducer reducer = make({"count", "min", "max", "sum", "mean", "std", "l1", "l2", "negative", "zero"});
  constexpr std::uint64_t count = (std::uint64_t{1} << 40) + 4097 + 5;  // not a whole number of blocks
  add_repeated(reducer, Dtype::float32, -1.5F, count);
  CHECK(reduced(reducer, "count") == static_cast<double>(count));
  CHECK(reduced(reducer, "min") == -1.5);
  CHECK(reduced(reducer, "max") == -1.5);
  CHECK(reduced(reducer, "sum") == -1.5 * static_cast<double>(count));  // exact: 42 bits of 53
  CHECK(reduced(reducer, "mean") == -1.5);
  CHECK(reduced(reducer, "std") == 0);
  CHECK(reduced(reducer, "l1") == 1.5 * static_cast<double>(count));
  CHECK(reduced(reducer, "l2") == doctest::Approx(1.5 * std::sqrt(static_cast<double>(count))).epsilon(1e-15));
  CHECK(reduced(reducer, "negative") == static_cast<double>(count));
  CHECK(reduced(reducer, "zero") == 0);
}

TEST_CASE("repeated elements are combined with earlier ones") {
  smd::Reducer reducer = make({"sum", "mean", "prod", "variance", "median"});
  const std::vector<std::int32_t> first = {4, 4, 4};
  reducer.add(Dtype::int32, std::as_bytes(std::span(first)));
  add_repeated(reducer, Dtype::int32, std::int32_t{-2}, 3);
  CHECK(reduced(reducer, "sum") == 6);       // 12 - 6
  CHECK(reduced(reducer, "mean") == 1);      // 6 / 6
  CHECK(reduced(reducer, "prod") == -512);   // 64 * -8
  CHECK(reduced(reducer, "variance") == 9);  // each is 3 from the mean
  CHECK(reduced(reducer, "median") == 1);    // between -2 and 4
}

TEST_CASE("repetitions whose elements are kept") {
  smd::Reducer reducer = make({"count", "median", "p25", "sum"});
  const std::vector<float> first(4'000, 1);
  reducer.add(Dtype::float32, std::as_bytes(std::span(first)));
  add_repeated(reducer, Dtype::float32, 3.0F, 12'001);
  CHECK(reduced(reducer, "count") == 16'001);
  CHECK(reduced(reducer, "median") == 3);
  CHECK(reduced(reducer, "p25") == 3);       // the 4001st of 16,001
  CHECK(reduced(reducer, "sum") == 40'003);  // 4000 + 36,003
}

TEST_CASE("each repetition of a NaN counts") {
  smd::Reducer reducer = make({"nan", "mean"});
  add_repeated(reducer, Dtype::float64, std::nan(""), 10'000);
  CHECK(reduced(reducer, "nan") == 10'000);
  CHECK(std::isnan(reduced(reducer, "mean")));
}
