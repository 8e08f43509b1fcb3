// SPDX-License-Identifier: Apache-2.0
#include "reduce/accumulator.hpp"
#include "reduce/answer.hpp"
#include "reduce/int128.hpp"
#include "reduce/percentiles.hpp"

#include <smd/error.hpp>
#include <smd/reduction.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

namespace smd {

using namespace detail::reduce;

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
  add(view.dtype(), view.bytes().first(static_cast<std::size_t>(element_count(view)) * item_size(view.dtype())));
}

void Reducer::add(Dtype dtype, std::span<const std::byte> bytes) {
  const Dtype type = storage_type(dtype);
  const std::size_t item = item_size(type);
  if (item == 0) {
    throw InvalidArgument("strings cannot be reduced");
  }
  impl_->data.add(type, bytes.data(), bytes.size() / item);
}

void Reducer::add_repeated(Dtype dtype, std::span<const std::byte> element, std::uint64_t count) {
  constexpr std::size_t unit_elements = 4096;
  const std::size_t unit = static_cast<std::size_t>(std::min<std::uint64_t>(count, unit_elements));
  std::vector<std::byte> bytes;
  bytes.reserve(unit * element.size());
  for (std::size_t i = 0; i < unit; ++i) {
    bytes.insert(bytes.end(), element.begin(), element.end());
  }
  if (impl_->data.groups_.values) {
    for (; count >= unit_elements; count -= unit_elements) {
      add(dtype, bytes);
    }
    add(dtype, std::span(bytes).first(static_cast<std::size_t>(count) * element.size()));
    return;
  }
  // The reduction of 2^k units, doubled in each turn; the units of `count` are a sum of powers of two.
  Reducer doubled(impl_->wanted, impl_->options);
  doubled.add(dtype, bytes);
  add(dtype, std::span(bytes).first(static_cast<std::size_t>(unit == 0 ? 0 : count % unit) * element.size()));
  for (std::uint64_t units = unit == 0 ? 0 : count / unit; units > 0; units >>= 1) {
    if ((units & 1) != 0) {
      merge(doubled);
    }
    doubled.merge(doubled);
  }
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
  return answer(impl_->data, reduction, impl_->options.ddof);
}

void Reducer::results(std::span<ReducedValue> into) const {
  if (into.size() != impl_->wanted.size()) {
    throw InvalidArgument("Reducer::results wants one place for each reduction");
  }
  std::transform(impl_->wanted.begin(), impl_->wanted.end(), into.begin(),
                 [this](const Reduction& reduction) { return answer(impl_->data, reduction, impl_->options.ddof); });
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
  groups.values = false;  // percentiles are computed in place
  Accumulator data(groups, options.nan);
  const std::byte* const source = view.bytes().data();
  const auto n = static_cast<std::size_t>(element_count(view));
  std::unique_ptr<Percentiles> percentiles;  // if there are any
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
  std::vector<ReducedValue> values;
  values.reserve(wanted.size());
  for (const Reduction& reduction : wanted) {
    values.push_back(answer(data, reduction, options.ddof, percentiles.get()));
  }
  return values;
}

Statistics statistics(const TensorView& view) {
  constexpr std::array<Reduction, 8> wanted = {{{ReductionKind::count},
                                                {ReductionKind::min},
                                                {ReductionKind::max},
                                                {ReductionKind::mean},
                                                {ReductionKind::std},
                                                {ReductionKind::nan},
                                                {ReductionKind::inf},
                                                {ReductionKind::zero}}};
  const std::vector<ReducedValue> values = reduce(view, wanted);
  return {values[0].low,  values[1].real, values[2].real, values[3].real,
          values[4].real, values[5].low,  values[6].low,  values[7].low};
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
      auto rest = (static_cast<detail::reduce::Uint128>(static_cast<std::uint64_t>(value.high)) << 64) | value.low;
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
