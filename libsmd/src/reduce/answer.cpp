// SPDX-License-Identifier: Apache-2.0
#include "reduce/answer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace smd::detail::reduce {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

ReducedValue real(double value) {
  ReducedValue result;
  result.kind = ReducedValue::Kind::real;
  result.real = value;
  return result;
}

ReducedValue integer(Int128 value) {
  ReducedValue result;
  result.kind = ReducedValue::Kind::integer;
  result.real = static_cast<double>(value);
  result.high = static_cast<std::int64_t>(value >> 64);
  result.low = static_cast<std::uint64_t>(value);
  return result;
}

ReducedValue complex(double re, double im) {
  ReducedValue result;
  result.kind = ReducedValue::Kind::complex;
  result.real = re;
  result.imaginary = im;
  return result;
}

ReducedValue undefined() {
  ReducedValue result;
  result.real = not_a_number;
  return result;
}

// Square root of a double-double, rounded to double.
double root(DoubleDouble value) {
  const double first = std::sqrt(value.hi);
  if (!std::isfinite(first) || first == 0) {
    return first;
  }
  return first + (std::fma(-first, first, value.hi) + value.lo) / (2 * first);
}

// Overflow while computing squares yields NaN; then the squares are too large for double.
DoubleDouble overflowed(DoubleDouble squares) { return std::isnan(squares.hi) ? DoubleDouble{infinity, 0} : squares; }

// The sum of a finite sum and the infinities and NaN that were counted.
double with_specials(const Specials& specials, bool propagate, double finite) {
  if ((propagate && specials.nan != 0) || (specials.posinf != 0 && specials.neginf != 0)) {
    return not_a_number;
  }
  if (specials.posinf != 0 || specials.neginf != 0) {
    return specials.posinf != 0 ? infinity : -infinity;
  }
  return finite;
}

/// Computes results from an accumulator.
class Answer {
 public:
  Answer(const Accumulator& data, std::uint64_t ddof, Percentiles* in_place)
      : data_(data),
        ddof_(ddof),
        in_place_(in_place),
        propagate_(data.policy_ == NanPolicy::propagate),
        nan_(propagate_ && data.specials_.nan != 0),
        infinite_(data.specials_.posinf + data.specials_.neginf),
        used_(propagate_ ? data.count_ : data.count_ - data.specials_.nan) {}

  [[nodiscard]] ReducedValue of(const Reduction& reduction) const {
    const Specials& special = data_.specials_;
    switch (reduction.kind) {
      case ReductionKind::count:
        return count(data_.count_);
      case ReductionKind::finite:
        return count(data_.count_ - special.all());
      case ReductionKind::nan:
        return count(special.nan);
      case ReductionKind::inf:
        return count(infinite_);
      case ReductionKind::posinf:
        return data_.complex_ ? undefined() : count(special.posinf);
      case ReductionKind::neginf:
        return data_.complex_ ? undefined() : count(special.neginf);
      case ReductionKind::zero:
        return count(data_.zero_);
      case ReductionKind::negative:
        return data_.complex_ ? undefined() : count(data_.negative_);
      case ReductionKind::zero_fraction:
        return fraction(data_.zero_);
      case ReductionKind::nan_fraction:
        return fraction(special.nan);
      case ReductionKind::min:
      case ReductionKind::max:
        return extreme(reduction.kind == ReductionKind::min, reduction);
      case ReductionKind::sum:
        return reduction.abs ? magnitude_sum() : sum();
      case ReductionKind::l1:
        return magnitude_sum();
      case ReductionKind::mean:
        return reduction.abs ? real(magnitude_mean()) : mean();
      case ReductionKind::variance:
        return real(variance(reduction.abs).value());
      case ReductionKind::std:
        return real(root(variance(reduction.abs)));
      case ReductionKind::l2:
        return real(norm(1));
      case ReductionKind::rms:
        return real(used_ == 0 ? not_a_number : norm(static_cast<double>(used_)));
      case ReductionKind::prod:
        return product(reduction.abs);
      case ReductionKind::median:
      case ReductionKind::percentile:
        return middle(percent_of(reduction), reduction);
    }
    return undefined();
  }

 private:
  [[nodiscard]] static ReducedValue count(std::uint64_t n) { return integer(static_cast<Int128>(n)); }
  [[nodiscard]] ReducedValue fraction(std::uint64_t n) const {
    return real(static_cast<double>(n) / static_cast<double>(data_.count_));
  }

  // How many elements count, if any result but NaN is possible; else 0.
  [[nodiscard]] std::uint64_t used(const Reduction& reduction) const {
    return reduction.omit_nan ? data_.count_ - data_.specials_.nan : nan_ ? 0 : used_;
  }

  [[nodiscard]] ReducedValue extreme(bool least, const Reduction& reduction) const {
    const bool abs = reduction.abs;
    if (data_.count_ == 0 || (data_.complex_ && !abs)) {
      return undefined();
    }
    if (used(reduction) == 0) {
      return real(not_a_number);
    }
    const std::uint64_t finite = data_.count_ - data_.specials_.all();
    if (abs) {
      if (data_.integers_) {
        return integer(least ? data_.abs_min_integer_ : std::max(-data_.min_integer_, data_.max_integer_));
      }
      if (least) {
        return real(finite != 0 ? data_.abs_min_ : infinity);
      }
      return real(infinite_ != 0 ? infinity : std::max(std::fabs(data_.min_), std::fabs(data_.max_)));
    }
    if (data_.integers_) {
      return integer(least ? data_.min_integer_ : data_.max_integer_);
    }
    // Without finite elements min_ is already +infinity and max_ -infinity.
    if (least) {
      return real(data_.specials_.neginf != 0 ? -infinity : data_.min_);
    }
    return real(data_.specials_.posinf != 0 ? infinity : data_.max_);
  }

  [[nodiscard]] DoubleDouble finite_sum() const {
    if (data_.sum_integer_ == 0) {
      return data_.sum_.pair();
    }
    ExactSum all = data_.sum_;
    const DoubleDouble integers = to_pair(data_.sum_integer_);
    all.add(integers.hi);
    all.add(integers.lo);
    return all.pair();
  }

  [[nodiscard]] ReducedValue sum() const {
    if (data_.integers_) {
      return integer(data_.sum_integer_);
    }
    if (data_.complex_) {
      return complex(with_specials(data_.real_specials_, propagate_, finite_sum().hi),
                     with_specials(data_.imaginary_specials_, propagate_, data_.imaginary_sum_.rounded()));
    }
    return real(with_specials(data_.specials_, propagate_, finite_sum().hi));
  }

  [[nodiscard]] ReducedValue mean() const {
    const auto n = static_cast<double>(used_);
    if (data_.complex_) {
      // As NumPy divides by a complex number without an imaginary part: an infinite part makes the other one NaN.
      const ReducedValue total = sum();
      return complex((total.real + total.imaginary * 0) / n, (total.imaginary - total.real * 0) / n);
    }
    if (used_ == 0) {
      return real(not_a_number);
    }
    return real(with_specials(data_.specials_, propagate_, divide(finite_sum(), n).value()));
  }

  [[nodiscard]] DoubleDouble finite_magnitudes() const {
    return data_.abs_sum_integer_ == 0 ? data_.abs_sum_ : add(data_.abs_sum_, to_pair(data_.abs_sum_integer_));
  }
  [[nodiscard]] ReducedValue magnitude_sum() const {
    if (data_.integers_) {
      return integer(data_.abs_sum_integer_);
    }
    return real(nan_ ? not_a_number : (infinite_ != 0 ? infinity : finite_magnitudes().value()));
  }
  [[nodiscard]] double magnitude_mean() const {
    if (nan_ || used_ == 0) {
      return not_a_number;
    }
    return infinite_ != 0 ? infinity : divide(finite_magnitudes(), static_cast<double>(used_)).value();
  }

  [[nodiscard]] Moments imaginary() const {
    // Real numbers that were pooled with complex ones have the imaginary part 0.
    Moments all = data_.imaginary_moments_;
    all.merge({data_.moments_.n - data_.imaginary_moments_.n, {}, {}});
    return all;
  }

  [[nodiscard]] DoubleDouble variance(bool abs) const {
    if (nan_ || infinite_ != 0 || used_ == 0) {
      return {not_a_number, 0};
    }
    const double divisor = used_ > ddof_ ? static_cast<double>(used_ - ddof_) : 0;
    const double total = abs ? finite_magnitudes().hi : finite_sum().hi;
    DoubleDouble squares = (abs ? data_.abs_moments_ : data_.moments_).squares;
    if (data_.complex_ && !abs) {
      squares = add(squares, imaginary().squares);
    }
    // If the mean exceeds double's range, every element is infinitely far from it, as in NumPy.
    squares = std::isfinite(total) ? overflowed(squares) : DoubleDouble{infinity, 0};
    return divide(squares, divisor);
  }

  [[nodiscard]] double norm(double divisor) const {
    if (nan_) {
      return not_a_number;
    }
    if (infinite_ != 0) {
      return infinity;
    }
    DoubleDouble squares = data_.moments_.square_sum();
    if (data_.complex_) {
      squares = add(squares, data_.imaginary_moments_.square_sum());
    }
    return root(divide(overflowed(squares), divisor));
  }

  [[nodiscard]] ReducedValue product(bool abs) const {
    if (data_.complex_ && !abs) {
      return undefined();
    }
    double value = data_.product_.value();
    if (nan_ || (infinite_ != 0 && data_.product_.mantissa.hi == 0)) {
      value = not_a_number;
    } else if (infinite_ != 0) {
      value = std::copysign(infinity, value) * (data_.negative_infinities_odd_ ? -1.0 : 1.0);
    }
    return real(abs ? std::fabs(value) : value);
  }

  [[nodiscard]] ReducedValue middle(double percent, const Reduction& reduction) const {
    const bool abs = reduction.abs;
    if (data_.complex_) {
      return undefined();
    }
    const auto others = static_cast<std::size_t>(used(reduction));
    if (others == 0) {
      return real(not_a_number);
    }
    if (in_place_ != nullptr) {
      return real(in_place_->of(abs, percent, others));
    }
    const auto of = [&](const auto& kept) { return real(percentiles_of(kept.elements())->of(abs, percent, others)); };
    const KeptForPercentiles& kept = data_.kept_;
    if (kept.wide.empty()) {
      return of(kept.narrow);
    }
    if (kept.narrow.empty()) {
      return of(kept.wide);
    }
    KeptElements<double> all(kept.wide);
    const RealElements<float> narrow = kept.narrow.elements();
    narrow.each_part(0, narrow.size(),
                     [&all](const std::byte* part, std::size_t n) { all.append(Dtype::float32, part, n); });
    return of(all);
  }

  const Accumulator& data_;
  std::uint64_t ddof_;
  Percentiles* in_place_;
  bool propagate_;
  bool nan_;  // NaN propagates to the result
  std::uint64_t infinite_;
  std::uint64_t used_;  // number of elements that means divide by
};

}  // namespace

double percent_of(const Reduction& reduction) {
  return reduction.kind == ReductionKind::median ? 50 : reduction.percent;
}

ReducedValue answer(const Accumulator& data, const Reduction& reduction, std::uint64_t ddof, Percentiles* in_place) {
  return Answer(data, ddof, in_place).of(reduction);
}

}  // namespace smd::detail::reduce
