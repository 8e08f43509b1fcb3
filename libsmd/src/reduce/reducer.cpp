// SPDX-License-Identifier: Apache-2.0
#include "reduce/accumulator.hpp"
#include "reduce/percentiles.hpp"
#include "text/mapped.hpp"
#include "types/refuse.hpp"

#include <smd/value_reader.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace smd::detail::reduce {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

ReducedValue real(double value) { return {.kind = ReducedValue::Kind::real, .real = value}; }

ReducedValue integer(Int128 value) {
  return {.kind = ReducedValue::Kind::integer,
          .real = static_cast<double>(value),
          .high = static_cast<std::int64_t>(value >> 64),
          .low = static_cast<std::uint64_t>(value)};
}

Int128 whole(std::int64_t high, std::uint64_t low) {
  return static_cast<Int128>((static_cast<Uint128>(static_cast<std::uint64_t>(high)) << 64) | low);
}

/// Below it, double represents every integer.
constexpr double exact_below = 0x1p53;

/// Returns an element of integer type.
ReducedValue exact_element(Int128 value) {
  const auto rounded = static_cast<double>(value);
  return std::fabs(rounded) < exact_below ? real(rounded) : integer(value);
}

ReducedValue complex(double re, double im) {
  return {.kind = ReducedValue::Kind::complex, .real = re, .imaginary = im};
}

ReducedValue undefined() { return {.real = not_a_number}; }

/// Returns the percentage of a reduction that needs the values; 50 for the median.
double percent_of(const Reduction& reduction) {
  return reduction.kind == ReductionKind::median ? 50 : reduction.percent;
}

// Square root of a double-double, rounded to double.
double root(DoubleDouble value) {
  const double first = std::sqrt(value.hi);
  const bool exact = !std::isfinite(first) || first == 0;
  return exact ? first : first + (std::fma(-first, first, value.hi) + value.lo) / (2 * first);
}

// Overflow while computing squares yields NaN; then the squares are too large for double.
DoubleDouble overflowed(DoubleDouble squares) { return std::isnan(squares.hi) ? DoubleDouble{infinity, 0} : squares; }

// The sum of a finite sum and the infinities and NaN that were counted.
double with_specials(const Specials& specials, bool propagate, double finite) {
  if ((propagate && specials.nan != 0) || (specials.posinf != 0 && specials.neginf != 0)) {
    return not_a_number;
  }
  return specials.posinf != 0 ? infinity : specials.neginf != 0 ? -infinity : finite;
}

/// The elements of a view, which are not kept.
struct InPlace {
  Dtype type;
  const std::byte* source;
  std::size_t n;
  std::unique_ptr<Percentiles> percentiles = nullptr;
};

/// Returns the percentile of 64-bit integers (with `magnitude`: of their absolute values) if it is one of the elements;
/// otherwise nullopt.
std::optional<Int128> integer_percentile(const InPlace& elements, bool magnitude, double percent) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  const bool is_signed = elements.type == Dtype::int64;
  std::vector<std::uint64_t> ordered(elements.n);  // in the order of the integers
  std::memcpy(ordered.data(), elements.source, elements.n * sizeof sign);
  for (std::uint64_t& bits : ordered) {
    bits = !is_signed ? bits : magnitude ? magnitude_of(bits) : bits ^ sign;
  }
  const auto [rank, weight] = percentile_place(percent, elements.n);
  const auto at = ordered.begin() + static_cast<std::ptrdiff_t>(rank);
  std::ranges::nth_element(ordered, at);
  if (weight != 0 && *std::ranges::min_element(at + 1, ordered.end()) != *at) {
    return std::nullopt;
  }
  return is_signed && !magnitude ? integer_from(true, *at ^ sign) : Int128{*at};
}

/// Computes results from an accumulator. `in_place`: the elements, if they were not copied.
class Answer {
 public:
  Answer(const Accumulator& data, std::uint64_t ddof, const InPlace* in_place = nullptr)
      : data_(data), ddof_(ddof), in_place_(in_place) {}

  [[nodiscard]] ReducedValue of(const Reduction& reduction) const {
    const Specials& special = data_.specials_;
    switch (reduction.kind) {
      case ReductionKind::count:
        return count(data_.count_);
      case ReductionKind::finite:
        return count(data_.count_ - special.all() + data_.beyond_);
      case ReductionKind::nan:
        return count(special.nan);
      case ReductionKind::inf:
        return count(infinite_ - data_.beyond_);
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
        return reduction.abs ? magnitude_mean() : mean();
      case ReductionKind::variance:
        return real(variance(reduction.abs).hi);
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
    return real(least ? (data_.specials_.neginf != 0 ? -infinity : data_.min_)
                      : (data_.specials_.posinf != 0 ? infinity : data_.max_));
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
    if (data_.integers_ && used_ == 1) {
      return exact_element(data_.sum_integer_);
    }
    if (data_.complex_) {
      // As NumPy divides by a complex number without an imaginary part: an infinite part makes the other one NaN.
      const ReducedValue total = sum();
      return complex((total.real + total.imaginary * 0) / n, (total.imaginary - total.real * 0) / n);
    }
    return real(used_ == 0 ? not_a_number : with_specials(data_.specials_, propagate_, divide(finite_sum(), n).hi));
  }

  [[nodiscard]] DoubleDouble finite_magnitudes() const {
    return data_.abs_sum_integer_ == 0 ? data_.abs_sum_ : add(data_.abs_sum_, to_pair(data_.abs_sum_integer_));
  }
  [[nodiscard]] ReducedValue magnitude_sum() const {
    if (data_.integers_) {
      return integer(data_.abs_sum_integer_);
    }
    return real(nan_ ? not_a_number : (infinite_ != 0 ? infinity : finite_magnitudes().hi));
  }
  [[nodiscard]] ReducedValue magnitude_mean() const {
    if (nan_ || used_ == 0) {
      return real(not_a_number);
    }
    if (data_.integers_ && used_ == 1) {
      return exact_element(data_.abs_sum_integer_);
    }
    return real(infinite_ != 0 ? infinity : divide(finite_magnitudes(), static_cast<double>(used_)).hi);
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
    if (nan_ || infinite_ != 0) {
      return nan_ ? not_a_number : infinity;
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
    return real(abs ? std::fabs(value) : data_.integers_ ? value + 0.0 : value);  // no integer is -0
  }

  [[nodiscard]] ReducedValue middle(double percent, const Reduction& reduction) const {
    const bool abs = reduction.abs;
    if (data_.complex_ && !abs) {
      return undefined();
    }
    const auto others = static_cast<std::size_t>(used(reduction));
    if (others == 0) {
      return real(not_a_number);
    }
    if (in_place_ != nullptr) {
      const double number = in_place_->percentiles->of(abs, percent, others);
      // Only integers of 64 bits are as large as this.
      const bool rounded = data_.integers_ && std::fabs(number) >= exact_below;
      const auto exact = rounded ? integer_percentile(*in_place_, abs, percent) : std::nullopt;
      return exact ? exact_element(*exact) : real(number);
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
  const InPlace* in_place_;
  bool propagate_ = !data_.omit_nan_;
  bool nan_ = propagate_ && data_.specials_.nan != 0;  // NaN propagates to the result
  std::uint64_t infinite_ = data_.specials_.posinf + data_.specials_.neginf;
  std::uint64_t used_ = propagate_ ? data_.count_ : data_.count_ - data_.specials_.nan;  // that means divide by
};

}  // namespace

}  // namespace smd::detail::reduce

namespace smd {

using namespace detail::reduce;

/// Hidden: otherwise it would be exported with its class.
struct __attribute__((visibility("hidden"))) Reducer::Impl {
  Accumulator data;
  ReduceOptions options;
  std::vector<Reduction> wanted;

  /// Adds `count` elements (at least one) that equal `element`, in logarithmic time, or linear if the elements are
  /// kept.
  void add_repeated(Dtype type, std::span<const std::byte> element, std::uint64_t count) {
    constexpr std::size_t unit_elements = 4096;
    const std::size_t unit = static_cast<std::size_t>(std::min<std::uint64_t>(count, unit_elements));
    std::vector<std::byte> bytes;
    bytes.reserve(unit * element.size());
    for (std::size_t i = 0; i < unit; ++i) {
      bytes.insert(bytes.end(), element.begin(), element.end());
    }
    if (data.groups_.values) {
      for (; count > unit; count -= unit) {
        data.add(type, bytes.data(), unit);
      }
      data.add(type, bytes.data(), static_cast<std::size_t>(count));
      return;
    }
    data.add(type, bytes.data(), static_cast<std::size_t>(count % unit));
    // The reduction of 2^k units, doubled in each turn; the units of `count` are a sum of powers of two.
    Accumulator doubled(data.groups_, options.omit_nan);
    doubled.add(type, bytes.data(), unit);
    for (std::uint64_t units = count / unit; units > 0; units >>= 1) {
      if ((units & 1) != 0) {
        data.merge(Accumulator(doubled));
      }
      doubled.merge(Accumulator(doubled));
    }
  }

  void expect_same(const Impl& other) const {
    detail::refuse_if(data.groups_ != other.data.groups_ || options.omit_nan != other.options.omit_nan,
                      "reducers of different reductions cannot be merged");
  }
};

Reducer::Reducer(std::span<const Reduction> wanted, const ReduceOptions& options)
    : impl_(new Impl{Accumulator(groups_of(wanted), options.omit_nan), options, {wanted.begin(), wanted.end()}}) {}
Reducer::Reducer(const Reducer& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
Reducer::Reducer(Reducer&&) noexcept = default;
Reducer& Reducer::operator=(Reducer&&) noexcept = default;
Reducer::~Reducer() = default;

void Reducer::add(const TensorView& view) {
  add(view.dtype(), view.bytes().first(detail::reduce::whole_elements(view) * item_size(view.dtype())));
}

void Reducer::add(Dtype dtype, std::span<const std::byte> bytes) {
  const Dtype type = storage_type(dtype);
  const std::size_t item = item_size(type);
  detail::refuse_if(item == 0, "strings cannot be reduced");
  impl_->data.add(type, bytes.data(), bytes.size() / item);
}

bool Reducer::add(Extent& value) {
  add(value.dtype(), {});  // refuses strings, and notes the type even if there are no elements
  const std::size_t item = item_size(value.dtype());
  const std::uint64_t stored = value.size() - value.repeats();
  value.in_any_order();
  value.verify_while_reading(0, stored);
  std::span<const std::byte> bytes;
  for (std::uint64_t at = 0; at < stored; at += bytes.size() / item) {
    bytes = value.view(at, std::min<std::uint64_t>(stored - at, Extent::block_bytes / item));
    if (bytes.empty()) {
      return false;
    }
    add(value.dtype(), bytes);
  }
  if (value.repeats() != 0) {
    impl_->add_repeated(storage_type(value.dtype()), bytes.last(item), value.repeats());
  }
  return true;
}

void Reducer::merge(Reducer&& other) {
  impl_->expect_same(*other.impl_);
  if (&other == this) {
    impl_->data.merge(Accumulator(impl_->data));
  } else {
    impl_->data.merge(std::move(other.impl_->data));
  }
}

ReducedValue Reducer::result(const Reduction& reduction) const {
  const Groups needed = groups_of(std::span(&reduction, 1));
  if (both(needed, impl_->data.groups_) != impl_->data.groups_) {
    throw InvalidArgument("reduction was not asked for before: " + to_string(reduction));
  }
  return Answer(impl_->data, impl_->options.ddof).of(reduction);
}

void Reducer::results(std::span<ReducedValue> into) const {
  detail::refuse_if(into.size() != impl_->wanted.size(), "Reducer::results wants one place for each reduction");
  const Answer answer(impl_->data, impl_->options.ddof);
  std::transform(impl_->wanted.begin(), impl_->wanted.end(), into.begin(),
                 [&](const Reduction& reduction) { return answer.of(reduction); });
}

void Reducer::clear() noexcept { impl_->data.clear(); }

PartialReduction Reducer::partial() const {
  const Accumulator& data = impl_->data;
  detail::refuse_if(data.complex_, "complex numbers have no partial reduction");
  const auto split = [](Int128 value, std::int64_t& high, std::uint64_t& low) {
    high = static_cast<std::int64_t>(value >> 64);
    low = static_cast<std::uint64_t>(value);
  };
  const auto numbers = [](DoubleDouble value) { return std::array<double, 2>{value.hi, value.lo}; };
  PartialReduction partial;
  partial.count = data.count_;
  partial.nan = data.specials_.nan;
  partial.posinf = data.specials_.posinf;
  partial.neginf = data.specials_.neginf;
  partial.zero = data.zero_;
  partial.negative = data.groups_.negatives ? data.negative_ : 0;
  partial.integers = data.integers_;
  partial.min = data.min_;
  partial.max = data.max_;
  partial.abs_min = data.abs_min_;
  split(data.min_integer_, partial.min_integer_high, partial.min_integer_low);
  split(data.max_integer_, partial.max_integer_high, partial.max_integer_low);
  split(data.abs_min_integer_, partial.abs_min_integer_high, partial.abs_min_integer_low);
  partial.sum = numbers(data.sum_.pair());
  partial.abs_sum = numbers(data.abs_sum_);
  split(data.sum_integer_, partial.sum_integer_high, partial.sum_integer_low);
  split(data.abs_sum_integer_, partial.abs_sum_integer_high, partial.abs_sum_integer_low);
  partial.m2 = numbers(data.moments_.squares);
  partial.abs_m2 = numbers(data.abs_moments_.squares);
  partial.prod = numbers(data.product_.mantissa);
  partial.prod_exponent = data.product_.exponent;
  return partial;
}

void Reducer::merge(const PartialReduction& partial) {
  detail::refuse_if(impl_->data.groups_.values, "median and percentiles cannot be merged without the values");
  const auto pair = [](const std::array<double, 2>& numbers) { return DoubleDouble{numbers[0], numbers[1]}; };
  detail::refuse_if(!std::isfinite(partial.sum[0]) || !std::isfinite(partial.sum[1]),
                    "a sum beyond the range of double cannot be merged");
  Accumulator data(impl_->data.groups_, impl_->data.omit_nan_);
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
  impl_->data.merge(std::move(data));
}

std::vector<ReducedValue> reduce(const TensorView& view, std::span<const Reduction> wanted,
                                 const ReduceOptions& options) {
  const Dtype type = storage_type(view.dtype());
  detail::refuse_if(item_size(type) == 0, "strings cannot be reduced");
  Groups groups = groups_of(wanted);
  // Percentiles are computed in place, except those of moduli, which must be computed first and are kept.
  groups.values = is_complex(type) && std::ranges::any_of(wanted, [](const Reduction& reduction) {
                    return reduction.abs && needs_values(reduction);
                  });
  Accumulator data(groups, options.omit_nan);
  const std::byte* const source = view.bytes().data();
  const std::size_t n = detail::reduce::whole_elements(view);
  InPlace in_place{type, source, n};
  std::unique_ptr<Percentiles>& percentiles = in_place.percentiles;
  for (const Reduction& reduction : wanted) {
    if (needs_values(reduction) && !is_complex(type)) {
      percentiles = percentiles ? std::move(percentiles) : percentiles_of(type, source, n);
      percentiles->expect(reduction.abs, percent_of(reduction));
    }
  }
  // Percentiles search parts that are still in the second-level cache.
  const std::size_t part = percentiles ? (std::size_t{1} << 18) / item_size(type) : n;
  std::size_t done = 0;
  do {
    const std::size_t rest = n - done;
    const std::size_t size = rest < part + part / 2 ? rest : part;
    data.add(type, source + done * item_size(type), size);
    if (percentiles) {
      percentiles->add(size);
    }
    done += size;
  } while (done < n);
  const Answer answer(data, options.ddof, percentiles ? &in_place : nullptr);
  return detail::mapped(wanted, [&](const Reduction& reduction) { return answer.of(reduction); });
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
    case ReducedValue::Kind::integer:
      return fmt::format("{}", whole(value.high, value.low));
    case ReducedValue::Kind::undefined:
      break;
  }
  return {};
}

}  // namespace smd
