// SPDX-License-Identifier: Apache-2.0
// Elements of a type (the first byte), split in two (the second byte). Compares every instruction set with a plain
// loop for counts, minimum and maximum, and with the others and with the whole array for everything else.
#include <smd/elements.hpp>
#include <smd/reduction.hpp>

#include "reduce/kernels.hpp"
#include "source.hpp"
#include "target.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using namespace smd;
using namespace smd::detail::reduce;

namespace {

constexpr Dtype reduced_dtypes[] = {
    Dtype::float32,         Dtype::float64,         Dtype::float16,       Dtype::bfloat16,    Dtype::int8,
    Dtype::int16,           Dtype::int32,           Dtype::int64,         Dtype::uint8,       Dtype::uint16,
    Dtype::uint32,          Dtype::uint64,          Dtype::boolean,       Dtype::qint8,       Dtype::quint16,
    Dtype::qint16,          Dtype::qint32,          Dtype::quint8,        Dtype::float8_e5m2, Dtype::float8_e4m3fn,
    Dtype::float8_e4m3fnuz, Dtype::float8_e5m2fnuz, Dtype::float8_e8m0fnu};

std::vector<Reduction> reduced_kinds() {
  std::vector<Reduction> all;
  for (const ReductionFacts& facts : all_reductions()) {
    for (const bool abs : {false, true}) {
      if (!abs || facts.abs) {
        all.push_back({facts.kind, abs, facts.kind == ReductionKind::percentile ? 99.9 : 0});
      }
    }
  }
  all.push_back({ReductionKind::percentile, false, 10});
  return all;
}

double element(Dtype dtype, const std::byte* at) {
  const auto load = [at]<class T>(T number) {
    std::memcpy(&number, at, sizeof number);
    return number;
  };
  return visit_element_type(dtype, [&]<class Stored>(std::type_identity<Stored>) -> double {
    if constexpr (std::is_same_v<Stored, bool>) {
      return load(std::uint8_t{}) != 0 ? 1 : 0;
    } else if constexpr (std::is_arithmetic_v<Stored>) {
      return static_cast<double>(load(Stored{}));
    } else if constexpr (std::is_same_v<Stored, BFloat16>) {
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(load(std::uint16_t{})) << 16));
    } else if constexpr (std::is_same_v<Stored, Float8>) {
      return static_cast<double>((*float8_numbers(dtype))[load(std::uint8_t{})]);
    } else {
      static_assert(std::is_same_v<Stored, Half> || std::is_same_v<Stored, std::string_view> ||
                    std::is_same_v<Stored, std::complex<float>> || std::is_same_v<Stored, std::complex<double>>);
      SMD_REQUIRE((std::is_same_v<Stored, Half>));
      const unsigned bits = load(std::uint16_t{});
      const int exponent = static_cast<int>(bits >> 10 & 31);
      const double fraction = bits & 1023;
      const double magnitude = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                               : exponent == 0 ? std::ldexp(fraction, -24)
                                               : std::ldexp(fraction + 1024, exponent - 25);
      return (bits & 0x8000) != 0 ? -magnitude : magnitude;
    }
  });
}

/// Statistics from a plain loop.
struct Plain {
  std::uint64_t count = 0, nan = 0, posinf = 0, neginf = 0, zero = 0, negative = 0;
  double min = INFINITY, max = -INFINITY;
  double largest = 0;  // finite |x|

  Plain(Dtype dtype, std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i + item_size(dtype) <= bytes.size(); i += item_size(dtype)) {
      const double x = element(dtype, bytes.data() + i);
      ++count;
      nan += std::isnan(x) ? 1 : 0;
      posinf += x == INFINITY ? 1 : 0;
      neginf += x == -INFINITY ? 1 : 0;
      zero += x == 0 ? 1 : 0;
      negative += x < 0 ? 1 : 0;
      min = x < min ? x : min;
      max = x > max ? x : max;
      largest = std::isfinite(x) && std::fabs(x) > largest ? std::fabs(x) : largest;
    }
  }
};

/// Returns how many doubles are between two; 0 for two NaN.
std::uint64_t distance(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) {
    return std::isnan(a) && std::isnan(b) ? 0 : UINT64_MAX;
  }
  const auto place = [](double x) {
    const auto bits = std::bit_cast<std::int64_t>(x);
    return bits < 0 ? INT64_MIN - bits : bits;
  };
  const std::int64_t low = std::min(place(a), place(b));
  const std::int64_t high = std::max(place(a), place(b));
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

/// Returns whether a reduction is computed from squares or squared distances from the mean.
bool squared(const Reduction& reduction) {
  return reduction.kind == ReductionKind::variance || reduction.kind == ReductionKind::std ||
         reduction.kind == ReductionKind::l2 || reduction.kind == ReductionKind::rms;
}

/// Returns whether two results agree as the header promises: to the bit, or for a few reductions within 2 units in the
/// last place.
bool agree(const Reduction& reduction, const ReducedValue& a, const ReducedValue& b) {
  if (a.kind != b.kind) {
    return false;
  }
  if (a.kind == ReducedValue::Kind::integer) {
    return a.high == b.high && a.low == b.low;
  }
  const bool loose = reduction.abs || reduction.kind == ReductionKind::prod || squared(reduction);
  return a.kind == ReducedValue::Kind::undefined || distance(a.real, b.real) <= (loose ? 2 : 0);
}

void check_plain(const Plain& plain, const Reduction& reduction, const ReducedValue& value) {
  const auto is = [&](std::uint64_t count) {
    SMD_REQUIRE(value.kind == ReducedValue::Kind::integer && value.high == 0 && value.low == count);
  };
  switch (reduction.kind) {
    case ReductionKind::count:
      return is(plain.count);
    case ReductionKind::nan:
      return is(plain.nan);
    case ReductionKind::posinf:
      return is(plain.posinf);
    case ReductionKind::neginf:
      return is(plain.neginf);
    case ReductionKind::inf:
      return is(plain.posinf + plain.neginf);
    case ReductionKind::finite:
      return is(plain.count - plain.nan - plain.posinf - plain.neginf);
    case ReductionKind::zero:
      return is(plain.zero);
    case ReductionKind::negative:
      return is(plain.negative);
    case ReductionKind::min:
    case ReductionKind::max:
    case ReductionKind::median:
    case ReductionKind::mean:
    case ReductionKind::std:
    case ReductionKind::variance:
    case ReductionKind::sum:
    case ReductionKind::prod:
    case ReductionKind::l1:
    case ReductionKind::l2:
    case ReductionKind::percentile:
    case ReductionKind::zero_fraction:
    case ReductionKind::nan_fraction:
    case ReductionKind::rms:
      break;
  }
  if (!reduction.abs && plain.count != 0 && plain.nan == 0) {
    SMD_REQUIRE(reduction.kind != ReductionKind::min || value.real == plain.min);
    SMD_REQUIRE(reduction.kind != ReductionKind::max || value.real == plain.max);
  }
}

}  // namespace

SMD_FUZZ_ENTRY(reductions)(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Reduction> wanted = reduced_kinds();
  fuzz::Source source(data, size);
  const Dtype dtype = reduced_dtypes[source.number() % std::size(reduced_dtypes)];
  const unsigned cut = source.number();
  const unsigned repeat = 1 + source.number() % 4 * 64;  // so that blocks and streams are used
  std::vector<std::byte> bytes;
  for (unsigned i = 0; i < repeat && bytes.size() < 65536; ++i) {
    const auto more = fuzz::bytes_of(source.rest());
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  bytes.resize(bytes.size() / item_size(dtype) * item_size(dtype));
  if (dtype == Dtype::boolean) {
    for (std::byte& truth : bytes) {
      truth &= std::byte{1};
    }
  }
  const std::span<const std::byte> all = bytes;
  const std::size_t first = bytes.size() / item_size(dtype) * cut / 256 * item_size(dtype);
  const Plain plain(dtype, all);

  std::vector<ReducedValue> reference;
  for (const Kernels* kernels : available_kernels()) {
    choose_kernels(*kernels);
    Reducer whole(wanted);
    whole.add(dtype, all);
    Reducer split(wanted);
    split.add(dtype, all.first(first));
    Reducer tail(wanted);
    tail.add(dtype, all.subspan(first));
    split.merge(std::move(tail));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const ReducedValue value = whole.result(wanted[i]);
      check_plain(plain, wanted[i], value);
      const bool promised = !squared(wanted[i]) || plain.largest == 0 || plain.largest >= 1e-120;
      SMD_REQUIRE(!promised || agree(wanted[i], value, split.result(wanted[i])));
      if (reference.size() == i) {
        reference.push_back(value);
      }
      SMD_REQUIRE(!promised || agree(wanted[i], value, reference[i]));
    }
  }
  return 0;
}
