// SPDX-License-Identifier: Apache-2.0
#include "statistic.hpp"

#include "rows/elements.hpp"

#include <cmath>
#include <limits>

namespace smd::tool::reduce {

Statistic Statistic::of(const TensorView& saved) {
  if (saved.dtype() == Dtype::string || saved.size() != 1) {
    return {};
  }
  return Statistic(Elements(saved).cell(0));
}

Statistic Statistic::of(const ReducedValue& computed) {
  switch (computed.kind) {
    case ReducedValue::Kind::real:
      return Statistic(computed.real);
    case ReducedValue::Kind::complex:
      return Statistic(std::complex<double>(computed.real, computed.imaginary));
    case ReducedValue::Kind::integer:
      if (computed.high == 0) {
        return Statistic(computed.low);
      }
      if (computed.high == -1 && computed.low >> 63 != 0) {
        return Statistic(static_cast<std::int64_t>(computed.low));
      }
      {
        Statistic statistic;
        statistic.digits_ = to_string(computed);
        return statistic;
      }
    case ReducedValue::Kind::undefined:
      break;
  }
  return {};
}

Statistic Statistic::of(const ReducedValue& computed, const Reduction& reduction, Dtype dtype, bool one_element) {
  const ReductionKind kind = reduction.kind;
  const bool element = kind == ReductionKind::min || kind == ReductionKind::max || kind == ReductionKind::median ||
                       (one_element && (kind == ReductionKind::mean || kind == ReductionKind::sum));
  if (element && !reduction.abs && computed.kind == ReducedValue::Kind::real) {
    const bool whole = is_real(dtype) && !is_floating(dtype) && std::trunc(computed.real) == computed.real &&
                       std::abs(computed.real) < 0x1p53;
    Statistic own(whole ? Cell(static_cast<std::int64_t>(computed.real)) : element_cell(computed.real, dtype));
    if (own.number() == computed.real) {
      return own;
    }
  }
  return of(computed);
}

void Statistic::add_to(Reducer& reducer) const {
  const auto add = [&reducer](Dtype dtype, const auto& element) {
    reducer.add(dtype, std::as_bytes(std::span(&element, 1)));
  };
  if (const auto* const complex = std::get_if<std::complex<double>>(&number_.value())) {
    add(Dtype::complex128, *complex);
  } else if (const auto* const whole = std::get_if<std::int64_t>(&number_.value())) {
    add(Dtype::int64, *whole);
  } else if (const auto* const natural = std::get_if<std::uint64_t>(&number_.value())) {
    add(Dtype::uint64, *natural);
  } else {
    add(Dtype::float64, number());
  }
}

double Statistic::number() const {
  if (!digits_.empty()) {
    return std::strtod(digits_.c_str(), nullptr);
  }
  return std::visit(
      [](const auto& value) {
        using Type = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Type, Half> || std::is_same_v<Type, BFloat16>) {
          return static_cast<double>(to_float(value));
        } else if constexpr (std::is_arithmetic_v<Type>) {
          return static_cast<double>(value);
        } else {
          return std::numeric_limits<double>::quiet_NaN();
        }
      },
      number_.value());
}

}  // namespace smd::tool::reduce
