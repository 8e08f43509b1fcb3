// SPDX-License-Identifier: Apache-2.0
#include <smd/error.hpp>
#include <smd/reduction.hpp>

#include "reduce/accumulator.hpp"
#include "reduce/doubles.hpp"
#include "reduce/select.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace smd {
namespace {

using namespace detail::reduce;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Groups groups_of(const Reduction& reduction) {
  Groups groups;
  switch (reduction.kind) {
    case ReductionKind::min:
      groups.abs_min = reduction.abs;
      break;
    case ReductionKind::median:
    case ReductionKind::percentile:
      groups.values = true;
      break;
    case ReductionKind::mean:
    case ReductionKind::sum:
      (reduction.abs ? groups.magnitudes : groups.sum) = true;
      break;
    case ReductionKind::std:
    case ReductionKind::variance:
      groups.sum = groups.moments = true;
      groups.magnitudes = groups.abs_moments = reduction.abs;
      break;
    case ReductionKind::l1:
      groups.magnitudes = true;
      break;
    case ReductionKind::l2:
    case ReductionKind::rms:
      groups.sum = groups.moments = true;
      break;
    case ReductionKind::prod:
      groups.product = true;
      break;
    case ReductionKind::zero:
    case ReductionKind::negative:
    case ReductionKind::zero_fraction:
      groups.signs = true;
      break;
    default:
      break;  // always at hand
  }
  return groups;
}

Groups both(const Groups& a, const Groups& b) {
  return {a.sum || b.sum,         a.moments || b.moments, a.magnitudes || b.magnitudes, a.abs_moments || b.abs_moments,
          a.abs_min || b.abs_min, a.product || b.product, a.signs || b.signs,           a.values || b.values};
}

// Which percentile a reduction that needs the values is.
double percent_of(const Reduction& reduction) {
  return reduction.kind == ReductionKind::median ? 50 : reduction.percent;
}

bool takes_abs(ReductionKind kind) { return kind <= ReductionKind::l2 || kind == ReductionKind::percentile; }

Groups groups_of(std::span<const Reduction> wanted) {
  Groups groups;
  for (const Reduction& reduction : wanted) {
    const bool percent_fits = reduction.percent >= 0 && reduction.percent <= 100;
    if (!percent_fits || (reduction.abs && !takes_abs(reduction.kind))) {
      throw InvalidArgument("no such reduction: " + to_string(reduction));
    }
    groups = both(groups, groups_of(reduction));
  }
  return groups;
}

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

// Root of a number in twice double's precision, rounded.
double root(DoubleDouble value) {
  const double first = std::sqrt(value.hi);
  if (!std::isfinite(first) || first == 0) {
    return first;
  }
  return first + (std::fma(-first, first, value.hi) + value.lo) / (2 * first);
}

// Overflow inside a computation of squares shows as NaN; the squares were too large for double.
DoubleDouble overflowed(DoubleDouble squares) { return std::isnan(squares.hi) ? DoubleDouble{infinity, 0} : squares; }

// The sum of what infinities and NaN there were with a finite sum.
double with_specials(const Specials& specials, bool propagate, double finite) {
  if ((propagate && specials.nan != 0) || (specials.posinf != 0 && specials.neginf != 0)) {
    return not_a_number;
  }
  if (specials.posinf != 0 || specials.neginf != 0) {
    return specials.posinf != 0 ? infinity : -infinity;
  }
  return finite;
}

/// Answers from what an accumulator holds.
class Answer {
 public:
  Answer(const Accumulator& data, std::uint64_t ddof)
      : data_(data),
        ddof_(ddof),
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
        return extreme(reduction.kind == ReductionKind::min, reduction.abs);
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
        return middle(percent_of(reduction), reduction.abs);
    }
    return undefined();
  }

  /// Where percentiles come from if the elements were not copied.
  Percentiles* in_place = nullptr;

 private:
  [[nodiscard]] static ReducedValue count(std::uint64_t n) { return integer(static_cast<Int128>(n)); }
  [[nodiscard]] ReducedValue fraction(std::uint64_t n) const {
    return real(static_cast<double>(n) / static_cast<double>(data_.count_));
  }

  [[nodiscard]] ReducedValue extreme(bool least, bool abs) const {
    if (data_.count_ == 0 || (data_.complex_ && !abs)) {
      return undefined();
    }
    if (nan_ || used_ == 0) {
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
    // Without finite elements min_ is +infinity already, max_ -infinity.
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
      // As NumPy divides by a complex number without imaginary part: an infinite part makes the other one NaN.
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
    // Real numbers that were pooled with complex ones have imaginary parts of 0.
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
    // A mean beyond double's range is infinitely far from every element, as in NumPy.
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

  [[nodiscard]] ReducedValue middle(double percent, bool abs) const {
    if (data_.complex_) {
      return undefined();
    }
    if (nan_ || used_ == 0) {
      return real(not_a_number);
    }
    const auto others = static_cast<std::size_t>(used_);
    if (in_place != nullptr) {
      return real(in_place->of(abs, percent, others));
    }
    const auto of = [&](const auto& kept) { return real(Percentiles(kept.elements()).of(abs, percent, others)); };
    const KeptForPercentiles& kept = data_.kept_;
    if (kept.wide.empty()) {
      return of(kept.narrow);
    }
    if (kept.narrow.empty()) {
      return of(kept.wide);
    }
    KeptElements<double> all(kept.wide);
    const Elements<float> narrow = kept.narrow.elements();
    narrow.each_part(0, narrow.size(),
                     [&all](const std::byte* part, std::size_t n) { all.append(Dtype::float32, part, n); });
    return of(all);
  }

  const Accumulator& data_;
  std::uint64_t ddof_;
  bool propagate_;
  bool nan_;  // a NaN is to be passed on
  std::uint64_t infinite_;
  std::uint64_t used_;  // elements that count for means
};

}  // namespace

struct Reducer::Impl {
  Accumulator data;
  ReduceOptions options;
  std::vector<Reduction> wanted;

  void expect_same(const Impl& other) const {
    if (data.groups_ != other.data.groups_ || options.nan != other.options.nan) {
      throw InvalidArgument("reducers of different reductions cannot be merged");
    }
  }
};

Reducer::Reducer(std::span<const Reduction> wanted, const ReduceOptions& options)
    : impl_(new Impl{Accumulator(groups_of(wanted), options.nan), options, {wanted.begin(), wanted.end()}}) {}
Reducer::Reducer(const Reducer& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Reducer::Reducer(Reducer&&) noexcept = default;
Reducer& Reducer::operator=(const Reducer& other) {
  if (this != &other) {
    impl_ = std::make_unique<Impl>(*other.impl_);
  }
  return *this;
}
Reducer& Reducer::operator=(Reducer&&) noexcept = default;
Reducer::~Reducer() = default;

void Reducer::add(const TensorView& view) {
  add(view.dtype(), view.bytes().first(element_count_of(view) * item_size(view.dtype())));
}

void Reducer::add(Dtype dtype, std::span<const std::byte> bytes) {
  const Dtype type = storage_type(dtype);
  const std::size_t item = item_size(type);
  if (item == 0) {
    throw InvalidArgument("strings cannot be reduced");
  }
  impl_->data.add(type, bytes.data(), bytes.size() / item);
}

void Reducer::merge(const Reducer& other) {
  impl_->expect_same(*other.impl_);
  if (&other == this) {
    impl_->data.merge(Accumulator(impl_->data));
  } else {
    impl_->data.merge(other.impl_->data);
  }
}

void Reducer::merge(Reducer&& other) {
  if (&other == this) {
    return merge(std::as_const(other));
  }
  impl_->expect_same(*other.impl_);
  impl_->data.merge(std::move(other.impl_->data));
}

ReducedValue Reducer::result(const Reduction& reduction) const {
  const Groups needed = groups_of(std::span(&reduction, 1));
  if (both(needed, impl_->data.groups_) != impl_->data.groups_) {
    throw InvalidArgument("reduction was not asked for before: " + to_string(reduction));
  }
  return Answer(impl_->data, impl_->options.ddof).of(reduction);
}

void Reducer::results(std::span<ReducedValue> into) const {
  if (into.size() != impl_->wanted.size()) {
    throw InvalidArgument("Reducer::results wants one place for each reduction");
  }
  const Answer answer(impl_->data, impl_->options.ddof);
  std::transform(impl_->wanted.begin(), impl_->wanted.end(), into.begin(),
                 [&answer](const Reduction& reduction) { return answer.of(reduction); });
}

void Reducer::clear() noexcept { impl_->data.clear(); }

PartialReduction Reducer::partial() const {
  const Accumulator& data = impl_->data;
  if (data.complex_) {
    throw InvalidArgument("complex numbers have no partial reduction");
  }
  const auto high = [](Int128 value) { return static_cast<std::int64_t>(value >> 64); };
  const auto low = [](Int128 value) { return static_cast<std::uint64_t>(value); };
  const auto numbers = [](DoubleDouble value) { return std::array<double, 2>{value.hi, value.lo}; };
  PartialReduction partial;
  partial.count = data.count_;
  partial.nan = data.specials_.nan;
  partial.posinf = data.specials_.posinf;
  partial.neginf = data.specials_.neginf;
  partial.zero = data.zero_;
  partial.negative = data.negative_;
  partial.integers = data.integers_;
  partial.min = data.min_;
  partial.max = data.max_;
  partial.abs_min = data.abs_min_;
  partial.min_integer_high = high(data.min_integer_);
  partial.min_integer_low = low(data.min_integer_);
  partial.max_integer_high = high(data.max_integer_);
  partial.max_integer_low = low(data.max_integer_);
  partial.abs_min_integer_high = high(data.abs_min_integer_);
  partial.abs_min_integer_low = low(data.abs_min_integer_);
  partial.sum = numbers(data.sum_.pair());
  partial.abs_sum = numbers(data.abs_sum_);
  partial.sum_integer_high = high(data.sum_integer_);
  partial.sum_integer_low = low(data.sum_integer_);
  partial.abs_sum_integer_high = high(data.abs_sum_integer_);
  partial.abs_sum_integer_low = low(data.abs_sum_integer_);
  partial.m2 = numbers(data.moments_.squares);
  partial.abs_m2 = numbers(data.abs_moments_.squares);
  partial.prod = numbers(data.product_.mantissa);
  partial.prod_exponent = data.product_.exponent;
  return partial;
}

void Reducer::merge(const PartialReduction& partial) {
  if (impl_->data.groups_.values) {
    throw InvalidArgument("median and percentiles cannot be merged without the values");
  }
  const auto whole = [](std::int64_t high, std::uint64_t low) {
    return static_cast<Int128>((static_cast<Uint128>(static_cast<std::uint64_t>(high)) << 64) | low);
  };
  const auto pair = [](const std::array<double, 2>& numbers) { return DoubleDouble{numbers[0], numbers[1]}; };
  if (!std::isfinite(partial.sum[0]) || !std::isfinite(partial.sum[1])) {
    throw InvalidArgument("a sum beyond the range of double cannot be merged");
  }
  Accumulator data(impl_->data.groups_, impl_->data.policy_);
  data.count_ = partial.count;
  data.specials_ = {partial.nan, partial.posinf, partial.neginf};
  data.zero_ = partial.zero;
  data.negative_ = partial.negative;
  data.integers_ = partial.integers;
  data.min_ = partial.min;
  data.max_ = partial.max;
  data.abs_min_ = partial.abs_min;
  data.min_integer_ = whole(partial.min_integer_high, partial.min_integer_low);
  data.max_integer_ = whole(partial.max_integer_high, partial.max_integer_low);
  data.abs_min_integer_ = whole(partial.abs_min_integer_high, partial.abs_min_integer_low);
  data.sum_.add(partial.sum[0]);
  data.sum_.add(partial.sum[1]);
  data.abs_sum_ = pair(partial.abs_sum);
  data.sum_integer_ = whole(partial.sum_integer_high, partial.sum_integer_low);
  data.abs_sum_integer_ = whole(partial.abs_sum_integer_high, partial.abs_sum_integer_low);
  const std::uint64_t finite = partial.count - data.specials_.all();
  data.moments_ = {finite, detail::reduce::add(pair(partial.sum), to_pair(data.sum_integer_)), pair(partial.m2)};
  data.abs_moments_ = {finite, detail::reduce::add(pair(partial.abs_sum), to_pair(data.abs_sum_integer_)),
                       pair(partial.abs_m2)};
  data.product_ = {pair(partial.prod), partial.prod_exponent};
  data.negative_infinities_odd_ = partial.neginf % 2 != 0;
  impl_->data.merge(data);
}

std::vector<ReducedValue> reduce(const TensorView& view, std::span<const Reduction> wanted,
                                 const ReduceOptions& options) {
  const Dtype type = storage_type(view.dtype());
  if (item_size(type) == 0) {
    throw InvalidArgument("strings cannot be reduced");
  }
  Groups groups = groups_of(wanted);
  groups.values = false;  // percentiles are found in place
  Accumulator data(groups, options.nan);
  const std::byte* const source = view.bytes().data();
  const std::size_t n = element_count_of(view);
  Percentiles percentiles(type, source, n);
  for (const Reduction& reduction : wanted) {
    if (needs_values(reduction) && !is_complex(type)) {
      percentiles.expect(reduction.abs, percent_of(reduction));
    }
  }
  // Percentiles are looked for in parts that are still in the second-level cache.
  const std::size_t part = percentiles.expects() ? (std::size_t{1} << 18) / item_size(type) : n;
  std::size_t done = 0;
  do {
    const std::size_t rest = n - done;
    const std::size_t size = rest < part + part / 2 ? rest : part;
    data.add(type, source + done * item_size(type), size);
    percentiles.add(size);
    done += size;
  } while (done < n);
  Answer answer(data, options.ddof);
  answer.in_place = &percentiles;
  std::vector<ReducedValue> values;
  values.reserve(wanted.size());
  for (const Reduction& reduction : wanted) {
    values.push_back(answer.of(reduction));
  }
  return values;
}

std::string to_string(const ReducedValue& value) {
  const auto shortest = [](double number) {
    if (std::isnan(number)) {
      return std::string("nan");
    }
    std::array<char, 32> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() ? std::string(digits.data(), end) : std::string();
  };
  switch (value.kind) {
    case ReducedValue::Kind::real:
      return shortest(value.real);
    case ReducedValue::Kind::complex:
      return "(" + shortest(value.real) + "," + shortest(value.imaginary) + ")";
    case ReducedValue::Kind::integer: {
      const bool negative = value.high < 0;
      auto rest = (static_cast<Uint128>(static_cast<std::uint64_t>(value.high)) << 64) | value.low;
      rest = negative ? ~rest + 1 : rest;
      std::string text;
      do {
        text.push_back(static_cast<char>('0' + static_cast<int>(rest % 10)));
        rest /= 10;
      } while (rest != 0);
      if (negative) {
        text.push_back('-');
      }
      std::reverse(text.begin(), text.end());
      return text;
    }
    case ReducedValue::Kind::undefined:
      break;
  }
  return {};
}

}  // namespace smd
