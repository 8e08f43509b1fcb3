// SPDX-License-Identifier: Apache-2.0
// --stat: one row of statistics for each value.
#include <smd/reduction.hpp>

#include "rows/elements.hpp"
#include "rows/row_writer.hpp"
#include "value_view.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

namespace smd::tool::tensor {

namespace {

constexpr std::array stat_columns = with_key_columns(std::array<Column, 13>{{{"dtype"},
                                                                             {"shape"},
                                                                             {"size", Align::right},
                                                                             {"min", Align::right},
                                                                             {"max", Align::right},
                                                                             {"mean", Align::right},
                                                                             {"std", Align::right},
                                                                             {"nan", Align::right},
                                                                             {"inf", Align::right},
                                                                             {"zero", Align::right},
                                                                             {"argmin"},
                                                                             {"argmax"},
                                                                             written_column}});

Cell cell_of(const ReducedValue& value) {
  switch (value.kind) {
    case ReducedValue::Kind::real:
      return value.real;
    case ReducedValue::Kind::complex:
      return std::complex<double>(value.real, value.imaginary);
    case ReducedValue::Kind::integer:  // of 64 bits, with or without a sign
      return value.high < 0 ? Cell(static_cast<std::int64_t>(value.low)) : Cell(value.low);
    case ReducedValue::Kind::undefined:
      break;
  }
  return {};
}

// The least and the greatest are elements; NaN without elements.
Cell extreme_of(const ReducedValue& value, Dtype dtype) {
  return is_complex(dtype) || value.kind == ReducedValue::Kind::integer ? cell_of(value)
                                                                        : element_cell(value.real, dtype);
}

// The statistics among the columns, in their order.
std::vector<Cell> cells_of(const TensorView& view) {
  constexpr std::array<Reduction, 7> wanted = {{{ReductionKind::min},
                                                {ReductionKind::max},
                                                {ReductionKind::mean},
                                                {ReductionKind::std},
                                                {ReductionKind::nan},
                                                {ReductionKind::inf},
                                                {ReductionKind::zero}}};
  std::vector<Cell> cells(wanted.size());
  if (view.dtype() != Dtype::string) {
    const std::vector<ReducedValue> values = reduce(view, wanted);
    for (std::size_t i = 0; i < values.size(); ++i) {
      cells[i] = i < 2 ? extreme_of(values[i], view.dtype()) : cell_of(values[i]);
    }
  }
  return cells;
}

/// Where the least and the greatest element are, the first of equal ones; none without a number.
struct Extremes {
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> greatest;
};

Extremes extremes_of(const TensorView& view) {
  Extremes places;
  if (is_real(view.dtype())) {
    visit_numbers(view, [&](const auto& elements) {
      for (std::uint64_t i = 0; i < view.size(); ++i) {
        const auto number = elements[i];
        if (!std::isnan(static_cast<double>(number))) {
          places.least = !places.least || number < elements[*places.least] ? i : places.least;
          places.greatest = !places.greatest || number > elements[*places.greatest] ? i : places.greatest;
        }
      }
    });
  }
  return places;
}

class StatView : public ValueView {
 public:
  explicit StatView(ViewContext context)
      : rows_(context.out, context.options.output, stat_columns, context.several_trials, context.messages) {}

  void set_trial(std::string_view name) override { rows_.set_trial(name); }

  void show(const ValueKey& key, const TensorValue& value) override {
    const Extremes places = extremes_of(value.view());
    std::vector<Cell> cells =
        with_key_cells(key, {to_string(value.dtype()), ShapeCell{value.shape()}, value.view().size()});
    const std::vector<Cell> statistics = cells_of(value.view());
    cells.insert(cells.end(), statistics.begin(), statistics.end());
    cells.insert(cells.end(), {index_cell(places.least, value.shape(), least_),
                               index_cell(places.greatest, value.shape(), greatest_), key.written});
    rows_.row(cells);
  }

  [[nodiscard]] std::optional<std::size_t> room() const override { return rows_.room(); }
  void end_step() override { rows_.end_step(); }

  void finish() override { rows_.finish(); }

 private:
  static Cell index_cell(std::optional<std::uint64_t> place, const Shape& shape, std::vector<std::int64_t>& index) {
    if (!place || shape.empty()) {
      return {};
    }
    index.resize(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      index[axis] = static_cast<std::int64_t>(*place % static_cast<std::uint64_t>(shape[axis]));
      *place /= static_cast<std::uint64_t>(shape[axis]);
    }
    return IndexCell{index};
  }

  RowWriter rows_;
  std::vector<std::int64_t> least_;
  std::vector<std::int64_t> greatest_;
};

}  // namespace

std::span<const Column> stat_view_columns() noexcept { return stat_columns; }

std::unique_ptr<ValueView> make_stat_view(ViewContext context) { return std::make_unique<StatView>(context); }

}  // namespace smd::tool::tensor
