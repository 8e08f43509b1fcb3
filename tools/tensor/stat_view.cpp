// SPDX-License-Identifier: Apache-2.0
// --stat: one row of statistics for each value.
#include <smd/reduction.hpp>

#include "rows/elements.hpp"
#include "rows/row_writer.hpp"
#include "value_view.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

namespace smd::tool::tensor {

namespace {

constexpr std::array<Column, 16> stat_columns = {{{"tensor"},
                                                  {"step", Align::right},
                                                  {"mode"},
                                                  {"mode_step", Align::right},
                                                  {"worker"},
                                                  {"dtype"},
                                                  {"shape"},
                                                  {"size", Align::right},
                                                  {"min", Align::right},
                                                  {"max", Align::right},
                                                  {"mean", Align::right},
                                                  {"std", Align::right},
                                                  {"nan", Align::right},
                                                  {"inf", Align::right},
                                                  {"zero", Align::right},
                                                  written_column}};

struct StatCells {
  Cell min, max, mean, std, nan, inf, zero;
};

template <class Integer>
void exact_extremes(const TensorView& view, StatCells& cells) {
  Integer least = load<Integer>(view.bytes().data());
  Integer greatest = least;
  for (std::size_t at = 0; at < view.bytes().size(); at += sizeof(Integer)) {
    const auto number = load<Integer>(view.bytes().data() + at);
    least = std::min(least, number);
    greatest = std::max(greatest, number);
  }
  cells.min = least;
  cells.max = greatest;
}

Cell cell_of(const ReducedValue& value) {
  switch (value.kind) {
    case ReducedValue::Kind::real:
      return value.real;
    case ReducedValue::Kind::complex:
      return std::complex<double>(value.real, value.imaginary);
    case ReducedValue::Kind::integer:
      return value.low;  // a count
    case ReducedValue::Kind::undefined:
      break;
  }
  return {};
}

// Complex numbers have no order, so neither least nor greatest.
StatCells complex_cells(const TensorView& view) {
  constexpr std::array<Reduction, 5> wanted = {
      {{ReductionKind::mean}, {ReductionKind::std}, {ReductionKind::nan}, {ReductionKind::inf}, {ReductionKind::zero}}};
  const std::vector<ReducedValue> of = reduce(view, wanted);
  return {.min = {},
          .max = {},
          .mean = cell_of(of[0]),
          .std = cell_of(of[1]),
          .nan = cell_of(of[2]),
          .inf = cell_of(of[3]),
          .zero = cell_of(of[4])};
}

// The 16-bit element equal to this number, so that it prints as its type does.
template <class Sixteen>
Cell element_equal_to(double number, const TensorView& view) {
  for (std::size_t at = 0; at < view.bytes().size(); at += sizeof(Sixteen)) {
    const auto element = load<Sixteen>(view.bytes().data() + at);
    if (as_double(element) == number && std::signbit(as_double(element)) == std::signbit(number)) {
      return element;
    }
  }
  return number;  // NaN
}

// The least and the greatest are elements, so they print as the value's type does.
Cell in_own_type(double number, const TensorView& view) {
  switch (view.dtype()) {
    case Dtype::float64:
      return number;
    case Dtype::float32:
      return static_cast<float>(number);
    case Dtype::float16:
      return element_equal_to<Half>(number, view);
    case Dtype::bfloat16:
      return element_equal_to<BFloat16>(number, view);
    default:
      if (is_floating(view.dtype())) {
        return static_cast<float>(number);  // 8 bits
      }
      return std::isnan(number) ? Cell(number) : Cell(static_cast<std::int64_t>(number));
  }
}

StatCells cells_of(const TensorView& view) {
  if (view.dtype() == Dtype::complex64 || view.dtype() == Dtype::complex128) {
    return complex_cells(view);
  }
  if (!is_real(view.dtype())) {
    return {};
  }
  const Statistics of = statistics(view);
  // 64-bit integers may not fit a double, nor the double them.
  const bool wide = of.size != 0 && (view.dtype() == Dtype::int64 || view.dtype() == Dtype::uint64);
  StatCells cells = {.min = wide ? Cell() : in_own_type(of.min, view),
                     .max = wide ? Cell() : in_own_type(of.max, view),
                     .mean = of.mean,
                     .std = of.std,
                     .nan = of.nan,
                     .inf = of.inf,
                     .zero = of.zero};
  if (wide && view.dtype() == Dtype::int64) {
    exact_extremes<std::int64_t>(view, cells);
  } else if (wide) {
    exact_extremes<std::uint64_t>(view, cells);
  }
  return cells;
}

class StatView : public ValueView {
 public:
  explicit StatView(ViewContext context)
      : rows_(context.out, context.options.output, stat_columns, false, context.messages) {
    rows_.set_trial(context.trial.name());
  }

  void show(const ValueKey& key, const TensorValue& value) override {
    const StatCells of = cells_of(value.view());
    rows_.row({key.tensor, key.step.value, to_string(key.mode), key.mode_step.value, key.worker,
               to_string(value.dtype()), ShapeCell{value.shape()}, value.view().size(), of.min, of.max, of.mean, of.std,
               of.nan, of.inf, of.zero, key.written});
  }

  [[nodiscard]] std::optional<std::size_t> room() const override { return rows_.room(); }
  void end_step() override { rows_.end_step(); }

  void finish() override { rows_.finish(); }

 private:
  RowWriter rows_;
};

}  // namespace

std::span<const Column> stat_view_columns() noexcept { return stat_columns; }

std::unique_ptr<ValueView> make_stat_view(ViewContext context) { return std::make_unique<StatView>(context); }

}  // namespace smd::tool::tensor
