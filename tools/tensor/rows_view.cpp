// SPDX-License-Identifier: Apache-2.0
// tsv, csv: one row per element. json, jsonl: one object per value, with nested arrays.
#include "array_text.hpp"
#include "rows/date.hpp"
#include "rows/row_writer.hpp"
#include "value_view.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace smd::tool::tensor {

namespace {

using RowColumns = std::array<Column, 15>;

constexpr RowColumns row_columns(Superseded superseded, bool smooth) {
  const bool times = superseded != Superseded::left_out;  // equal steps are told apart by it
  return with_key_columns(std::array<Column, 10>{{{"dtype", Align::left, false, true},
                                                  {"shape", Align::left, false, true},
                                                  {"index", Align::right, true, false},
                                                  {"value", Align::right},
                                                  {"value_smooth", Align::right, smooth, smooth},
                                                  {"wall_time", Align::right, times, times, false, show_date},
                                                  {"time", Align::left, false, false},
                                                  {"elapsed", Align::right, false, false},
                                                  superseded_column(superseded == Superseded::included),
                                                  written_column}});
}

class RowsView final : public ValueView {
 public:
  explicit RowsView(ViewContext context)
      : context_(context),
        columns_(row_columns(context.options.reading.superseded, context.options.smooth.has_value())),
        rows_(context.out, context.options.output, columns_, context.several_trials, context.messages),
        by_element_(!context.options.output.json() && (rows_.wants("index") || rows_.wants("value"))),
        numbers_suffice_(!rows_.wants("value_smooth") && !rows_.wants("time") && !rows_.wants("elapsed")) {}

  void set_trial(std::string_view name) override { rows_.set_trial(name); }

  void show(const ValueKey& key, const TensorValue& value) override {
    const Elements elements(value.view());
    warn_unless_utf8(elements, key, context_.messages);
    const ShapeCell shape{value.shape()};
    const auto row = [&](Cell index, Cell element) { show_row(key, value.dtype(), shape, index, element); };
    if (value.shape().empty()) {
      row(Cell(), elements.cell(0));
      return;
    }
    if (!by_element_) {
      const std::function<void(OutputFile&)> write = [&](OutputFile& out) {
        const OutputOptions& output = context_.options.output;
        write_json_value(out, elements, output.precision, output.nonfinite);
      };
      row(Cell(), JsonCell{&write});
      return;
    }
    const std::uint64_t size = value.view().size();
    std::vector<std::int64_t> index(value.shape().size(), 0);
    for (std::uint64_t place = 0; place < size && !rows_.full(); ++place) {
      row(IndexCell{index}, elements.cell(place));
      advance(index, value.shape());
    }
  }

  void show_number(const ValueKey& key, const Place& value) override {
    const TensorView view(value.type->dtype, {}, std::as_bytes(std::span(&value.number, 1)));
    show_row(key, value.type->dtype, ShapeCell{}, Cell(), Elements(view).cell(0));
  }

  [[nodiscard]] std::optional<RowPattern> text_of_numbers(const ValueKey& key, Dtype dtype) override {
    if (!numbers_suffice_) {
      return std::nullopt;
    }
    static const Cell none;  // in a temporary, GCC 12 takes what a missing cell leaves unset for an error
    std::vector<Cell> cells;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      cells.push_back(cell_of(column, key, dtype, ShapeCell{}, none, none));
    }
    std::vector<bool> varies(columns_.size());
    for (const NumberColumn column : number_columns) {
      varies[static_cast<std::size_t>(column)] = true;
    }
    return rows_.pattern_of(cells, varies);
  }
  void append(std::string_view text, std::size_t numbers) override { rows_.append(text, numbers); }
  [[nodiscard]] std::optional<std::size_t> room() const override { return rows_.room(); }
  void end_step() override { rows_.end_step(); }

  void finish() override { rows_.finish(); }

 private:
  void show_row(const ValueKey& key, Dtype dtype, const ShapeCell& shape, const Cell& index, const Cell& element) {
    rows_.row_of([&](std::size_t column) { return cell_of(column, key, dtype, shape, index, element); });
  }

  [[nodiscard]] Cell cell_of(std::size_t column, const ValueKey& key, Dtype dtype, const ShapeCell& shape,
                             const Cell& index, const Cell& element) {
    switch (column) {  // in the order of `row_columns`
      case 0:
        return key.tensor;
      case 1:
        return key.step.value;
      case 2:
        return to_string(key.mode);
      case 3:
        return key.mode_step.value;
      case 4:
        return key.worker;
      case 5:
        return to_string(dtype);
      case 6:
        return shape;
      case 7:
        return index;
      case 8:
        return element;
      case 9:
        return key.smooth ? Cell(*key.smooth) : Cell();
      case 10:
        return key.wall_time;
      case 11:
        time_text_ = time_text(key.wall_time);
        return time_text_.empty() ? Cell() : Cell(time_text_);
      case 12:
        return key.elapsed;
      case 13:
        return key.superseded;
      default:
        return key.written;
    }
  }

  static void advance(std::vector<std::int64_t>& index, const Shape& shape) {
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) {
        return;
      }
      index[axis] = 0;
    }
  }

  ViewContext context_;
  RowColumns columns_;
  RowWriter rows_;
  bool by_element_;       // else one row per value
  bool numbers_suffice_;  // no column needs more of a value than step, time and number
  std::string time_text_;
};

}  // namespace

std::span<const Column> rows_view_columns() noexcept {
  static constexpr RowColumns columns = row_columns(Superseded::left_out, false);
  return columns;
}

std::unique_ptr<ValueView> make_rows_view(ViewContext context) { return std::make_unique<RowsView>(context); }

}  // namespace smd::tool::tensor
