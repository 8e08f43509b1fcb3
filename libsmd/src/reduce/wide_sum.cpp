// SPDX-License-Identifier: Apache-2.0
#include "reduce/wide_sum.hpp"

#include <cmath>

namespace smd::detail::reduce {

namespace {

// The square of the largest double becomes 2^748, that of the smallest 2^-948.
constexpr int large_scale = -1300;
constexpr int small_scale = 1200;

void add_in_parts(ExactSum& sum, long double value) {
  const auto high = static_cast<double>(value);
  sum.add(high);
  sum.add(static_cast<double>(value - static_cast<long double>(high)));
}

long double value_of(const ExactSum& sum) {
  const DoubleDouble pair = sum.pair();
  return static_cast<long double>(pair.hi) + static_cast<long double>(pair.lo);
}

}  // namespace

void WideSum::add(long double value) {
  const int exponent = value == 0 ? 0 : std::ilogb(value);
  if (exponent >= 900) {
    add_in_parts(ends().large, std::ldexp(value, large_scale));
  } else if (exponent < -900) {
    add_in_parts(ends().small, std::ldexp(value, small_scale));
  } else {
    add_in_parts(middle_, value);
  }
}

void WideSum::add(const WideSum& other) {
  middle_.add(other.middle_);
  if (other.ends_) {
    ends().large.add(other.ends_->large);
    ends().small.add(other.ends_->small);
  }
}

void WideSum::clear() noexcept {
  middle_.clear();
  ends_.reset();
}

long double WideSum::value() const noexcept {
  long double sum = value_of(middle_);
  if (ends_) {
    sum += std::ldexp(value_of(ends_->large), -large_scale) + std::ldexp(value_of(ends_->small), -small_scale);
  }
  return sum;
}

WideSum::Ends& WideSum::ends() {
  if (!ends_) {
    ends_ = std::make_unique<Ends>();
  }
  return *ends_;
}

}  // namespace smd::detail::reduce
