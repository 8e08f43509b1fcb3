// SPDX-License-Identifier: Apache-2.0
// Rows: of elements or values, and --stat.
#include "array_text.hpp"
#include "rows/cell.hpp"
#include "rows/row_writer.hpp"
#include "value_view.hpp"

#include <smd/column.hpp>
#include <smd/parallel.hpp>
#include <smd/reduction.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace smd::tool::tensor {

namespace {

std::vector<Column> row_columns(Superseded superseded, bool smooth) {
  const bool times = superseded != Superseded::left_out;  // equal steps are told apart by it
  return with_key_columns({{"dtype", Align::left, false, true},
                           {"shape", Align::left, false, true},
                           {"index", Align::right, true, false},
                           {"value", Align::right},
                           {"value_smooth", Align::right, smooth, smooth},
                           {"wall_time", Align::right, times, times, false, show_date},
                           {"time", Align::left, false, false},
                           {"elapsed", Align::right, false, false},
                           superseded_column(superseded == Superseded::included),
                           written_column});
}

/// The columns whose numbers differ from one number of a tensor to the next: places in `row_columns`. Without modes,
/// the mode's step is the step itself.
enum class NumberColumn : std::size_t { step = 1, mode_step = 3, value = 8, wall_time = 10 };
constexpr std::array<NumberColumn, 4> number_columns = {NumberColumn::step, NumberColumn::mode_step,
                                                        NumberColumn::value, NumberColumn::wall_time};

constexpr std::size_t index_column = 7;  // the same

const Cell no_cell;  // in a temporary, GCC 12 takes what a missing cell leaves unset for an error

constexpr std::size_t piece_numbers = 4096;  // whose text fits the L2 cache

/// What one thread makes the text of: numbers of one worker and type.
struct Piece {
  std::span<const ColumnPart> parts;
  std::size_t count = 0;
  const RowPattern* text = nullptr;
};

bool alike(const ColumnPart& a, const ColumnPart& b) noexcept {
  return a.worker() == b.worker() && a.dtype() == b.dtype();
}

char* write_row(char* out, const RowPattern& pattern, const ColumnPart& part, std::size_t i) {
  for (const RowPattern::Number& number : pattern.numbers) {
    out += number.before.copy(out, std::string::npos);
    switch (static_cast<NumberColumn>(number.column)) {
      case NumberColumn::step:
      case NumberColumn::mode_step:
        out = write_number(out, part.step(i).value, pattern.precision);
        break;
      case NumberColumn::wall_time:
        out = std::isnan(part.wall_time(i)) ? std::copy_n("NA", 2, out)
                                            : write_number(out, part.wall_time(i), pattern.precision);
        break;
      case NumberColumn::value:
        out =
            part.dtype() == Dtype::float32
                ? write_number(out, std::bit_cast<float>(static_cast<std::uint32_t>(part.number(i))), pattern.precision)
                : write_number(out, std::bit_cast<double>(part.number(i)), pattern.precision);
        break;
    }
  }
  return out + pattern.end.copy(out, std::string::npos);
}

/// Overwrites the start of `text`, which grows as needed, with the rows of a piece. Returns their bytes.
std::size_t write_rows(const Piece& piece, std::string& text) {
  std::size_t most = piece.text->end.size();  // bytes of a row
  for (const RowPattern::Number& number : piece.text->numbers) {
    most += number.before.size() + number_chars;
  }
  std::size_t used = 0;
  for (const ColumnPart& part : piece.parts) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (text.size() - used < most) {
        text.resize(std::max(2 * text.size(), text.size() + most));
      }
      used = static_cast<std::size_t>(write_row(text.data() + used, *piece.text, part, i) - text.data());
    }
  }
  return used;
}

/// tsv, csv: one row per element. json, jsonl: one object per value, with nested arrays.
class RowsView final : public ValueView {
 public:
  explicit RowsView(ViewContext context)
      : context_(context),
        columns_(row_columns(context.options.reading.superseded, context.options.smooth.has_value())),
        rows_(context.out, context.options.output, columns_, context.several_trials, context.messages),
        by_element_(!context.options.output.json() && (rows_.wants("index") || rows_.wants("value"))),
        timed_(rows_.wants("time")),
        numbers_suffice_(!rows_.wants("value_smooth") && !timed_ && !rows_.wants("elapsed")) {}

  void set_trial(std::string_view name) override { rows_.set_trial(name); }

  void show(const ValueKey& key, const TensorValue& value) override {
    if (rows_.full()) {
      return;
    }
    const Elements elements(value.view());
    warn_unless_utf8(elements, key, context_.messages);
    const ShapeCell shape{value.shape()};
    if (value.shape().empty()) {
      show_row(key, value.dtype(), shape, elements.cell(0));
      return;
    }
    if (!by_element_) {
      const std::function<void(OutputFile&)> write = [&](OutputFile& out) {
        const OutputOptions& output = context_.options.output;
        write_json_value(out, elements, output.precision, output.nonfinite);
      };
      show_row(key, value.dtype(), shape, JsonCell{&write});
      return;
    }
    const std::uint64_t size = value.view().size();
    if (size == 0) {
      rows_.begin();
    }
    set_cells(key, value.dtype(), shape, no_cell);
    std::vector<std::int64_t> index(value.shape().size(), 0);
    for (std::uint64_t place = 0; place < size && !rows_.full(); ++place) {
      cells_[index_column] = IndexCell{index};
      cells_[static_cast<std::size_t>(NumberColumn::value)] = elements.cell(place);
      rows_.row(cells_);
      advance(index, value.shape());
    }
  }

  void show_number(const ValueKey& key, const Place& value) override {
    const TensorView view(value.type->dtype, {}, std::as_bytes(std::span(&value.number, 1)));
    show_row(key, value.type->dtype, ShapeCell{}, Elements(view).cell(0));
  }

  [[nodiscard]] bool show_held(const Trial& trial, std::string_view tensor, unsigned jobs,
                               Progress& progress) override {
    const std::optional<smd::ScalarColumn> column = smd::ScalarColumn::held(trial, tensor);
    if (!column || !numbers_suffice_) {
      return false;
    }
    const std::span<const ColumnPart> parts = column->parts();
    std::deque<RowPattern> texts;  // parts that are alike share one
    std::vector<Piece> pieces;
    std::size_t begin = 0;
    std::size_t count = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const ColumnPart& part = parts[i];
      if (i == 0 || !alike(parts[i - 1], part)) {
        ValueKey key;
        key.tensor = tensor;
        key.worker = part.worker();
        const bool shown = part.dtype() == Dtype::float32 || part.dtype() == Dtype::float64;
        std::optional<RowPattern> text = shown ? text_of_numbers(key, part.dtype()) : std::nullopt;
        if (!text) {
          return false;
        }
        texts.push_back(*std::move(text));
      }
      count += part.size();
      if (count >= piece_numbers || i + 1 == parts.size() || !alike(part, parts[i + 1])) {
        pieces.push_back({parts.subspan(begin, i + 1 - begin), count, &texts.back()});
        begin = i + 1;
        count = 0;
      }
    }
    if (pieces.empty()) {
      return false;
    }
    const ParallelLoop loop = reading_loop(trial, pieces.size(), {.jobs = jobs});
    std::vector<std::string> rows(loop.slots());
    std::vector<std::size_t> bytes(loop.slots());
    parallel_for_each(
        loop, [&](const LoopIndex& at) { bytes[at.slot] = write_rows(pieces[at.index], rows[at.slot]); },
        [&](const LoopIndex& at) {
          rows_.append(std::string_view(rows[at.slot]).substr(0, bytes[at.slot]), pieces[at.index].count);
          progress.advance(pieces[at.index].count);
          return true;
        });
    return true;
  }
  void end_step() override { rows_.end_step(); }

  void finish() override { rows_.finish(); }

 private:
  /// Returns the text of numbers that differ from this one only in `NumberColumn`s; nullopt if the format has
  /// no such text.
  [[nodiscard]] std::optional<RowPattern> text_of_numbers(const ValueKey& key, Dtype dtype) {
    set_cells(key, dtype, ShapeCell{}, no_cell);
    std::vector<bool> varies(columns_.size());
    for (const NumberColumn column : number_columns) {
      varies[static_cast<std::size_t>(column)] = true;
    }
    return rows_.pattern_of(cells_, varies);
  }

  void show_row(const ValueKey& key, Dtype dtype, const ShapeCell& shape, const Cell& element) {
    set_cells(key, dtype, shape, element);
    rows_.row(cells_);
  }

  /// Sets the cells of a row, in the order of `row_columns`, without an index. They borrow from what is passed.
  void set_cells(const ValueKey& key, Dtype dtype, const ShapeCell& shape, const Cell& element) {
    time_text_ = timed_ ? time_text(key.wall_time) : std::string();
    cells_ = {key.tensor,
              key.step.value,
              to_string(key.mode),
              key.mode_step.value,
              key.worker,
              to_string(dtype),
              shape,
              no_cell,
              element,
              key.smooth,
              or_missing(key.wall_time),
              or_missing(time_text_),
              or_missing(key.elapsed),
              key.superseded,
              key.written};
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
  std::vector<Column> columns_;
  RowWriter rows_;
  bool by_element_;       // else one row per value
  bool timed_;            // the column `time` is asked for
  bool numbers_suffice_;  // no column needs more of a value than step, time and number
  std::string time_text_;
  std::vector<Cell> cells_;  // of a row
};

std::vector<Column> stat_columns(Superseded superseded) {
  return with_key_columns({{"dtype"},
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
                           {"wall_time", Align::right, false, false, false, show_date},
                           superseded_column(superseded == Superseded::included),
                           written_column});
}

// The statistics among the columns, in their order. Minimum and maximum are elements.
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
      const bool element = i < 2 && values[i].kind == ReducedValue::Kind::real;
      cells[i] = element ? element_cell(values[i].real, view.dtype()) : reduced_cell(values[i]);
    }
  }
  return cells;
}

using Index = std::vector<std::int64_t>;

/// Where the least and the greatest element are, the first of equal ones; empty without a number.
std::pair<Index, Index> extremes_of(const TensorView& view) {
  std::optional<std::uint64_t> least;
  std::optional<std::uint64_t> greatest;
  if (is_real(view.dtype())) {
    visit_numbers(view, [&](const auto& elements) {
      for (std::uint64_t i = 0; i < view.size(); ++i) {
        const auto number = elements[i];
        if (!std::isnan(static_cast<double>(number))) {
          least = !least || number < elements[*least] ? i : least;
          greatest = !greatest || number > elements[*greatest] ? i : greatest;
        }
      }
    });
  }
  const auto index = [&view](const auto& place) { return place ? index_of(*place, view.shape()) : Index(); };
  return {index(least), index(greatest)};
}

/// --stat: one row of statistics for each value.
class StatView : public ValueView {
 public:
  explicit StatView(ViewContext context)
      : rows_(context.out, context.options.output, stat_columns(context.options.reading.superseded),
              context.several_trials, context.messages) {}

  void set_trial(std::string_view name) override { rows_.set_trial(name); }

  void show(const ValueKey& key, const TensorValue& value) override {
    const auto [least, greatest] = extremes_of(value.view());
    std::vector<Cell> cells =
        with_key_cells(key, {to_string(value.dtype()), ShapeCell{value.shape()}, value.view().size()});
    const std::vector<Cell> statistics = cells_of(value.view());
    cells.insert(cells.end(), statistics.begin(), statistics.end());
    cells.push_back(least.empty() ? Cell() : Cell(IndexCell{least}));
    cells.push_back(greatest.empty() ? Cell() : Cell(IndexCell{greatest}));
    cells.insert(cells.end(), {or_missing(key.wall_time), key.superseded, key.written});
    rows_.row(cells);
  }

  void end_step() override { rows_.end_step(); }

  void finish() override { rows_.finish(); }

 private:
  RowWriter rows_;
};

}  // namespace

std::vector<Column> rows_view_columns() { return row_columns(Superseded::left_out, false); }

std::unique_ptr<ValueView> make_rows_view(ViewContext context) { return std::make_unique<RowsView>(context); }

std::vector<Column> stat_view_columns() { return stat_columns(Superseded::left_out); }

std::unique_ptr<ValueView> make_stat_view(ViewContext context) { return std::make_unique<StatView>(context); }

}  // namespace smd::tool::tensor
