// SPDX-License-Identifier: Apache-2.0
#include "value_view.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"

#include <array>
#include <cstring>
#include <utility>

namespace smd::tool::tensor {

namespace {

using MakeView = std::unique_ptr<ValueView> (*)(ViewContext context);

constexpr std::array<std::pair<std::string_view, MakeView>, 10> formats = {{{"table", make_table_view},
                                                                            {"tsv", make_rows_view},
                                                                            {"csv", make_rows_view},
                                                                            {"json", make_rows_view},
                                                                            {"jsonl", make_rows_view},
                                                                            {"npy", make_npy_view},
                                                                            {"npz", make_npz_view},
                                                                            {"raw", make_raw_view},
                                                                            {"pgm", make_pgm_view},
                                                                            {svg_format, make_spark_view}}};

constexpr std::array<std::pair<TensorViewKind, MakeView>, 6> kinds = {{{TensorViewKind::stat, make_stat_view},
                                                                       {TensorViewKind::matrix, make_matrix_view},
                                                                       {TensorViewKind::hist, make_hist_view},
                                                                       {TensorViewKind::heatmap, make_heatmap_view},
                                                                       {TensorViewKind::spark, make_spark_view},
                                                                       {TensorViewKind::pivot, make_pivot_view}}};

}  // namespace

void ValueView::show_number(const ValueKey& key, const Place& value) {
  const Dtype dtype = value.type->dtype;
  const std::size_t size = item_size(dtype);
  const std::shared_ptr<std::byte[]> bytes = std::make_shared<std::byte[]>(size);
  std::memcpy(bytes.get(), &value.number, size);  // little endian, as this machine is: see `Elements`
  show(key, TensorValue(dtype, {}, bytes, size));
}

std::unique_ptr<ValueView> make_view(ViewContext context) {
  for (const auto& [kind, make] : kinds) {
    if (kind == context.options.view) {
      return make(context);
    }
  }
  if (context.options.stack) {
    return make_stack_view(context);
  }
  if (context.options.folder) {
    return make_folder_view(context);
  }
  // If rows are asked for, or needed to distinguish equal steps, a table has a row for each element too.
  if (context.options.output.format == "table" && (context.options.output.asks_for_rows() || context.options.smooth ||
                                                   context.options.reading.superseded != Superseded::left_out)) {
    return make_rows_view(context);
  }
  for (const auto& [format, make] : formats) {
    if (format == context.options.output.format) {
      return make(context);
    }
  }
  throw UsageError("unknown format " + single_quoted(context.options.output.format));
}

std::span<const std::string_view> tensor_format_names() noexcept {
  static const std::vector<std::string_view> names = keys_of(formats);
  return names;
}

std::vector<Column> with_key_columns(const std::vector<Column>& others) {
  std::vector<Column> columns = {{"tensor"}, {"step", Align::right}, {"mode"}, {"mode_step", Align::right}, {"worker"}};
  columns.insert(columns.end(), others.begin(), others.end());
  return columns;
}

std::vector<Cell> with_key_cells(const ValueKey& key, std::initializer_list<Cell> others) {
  std::vector<Cell> cells = {key.tensor, key.step.value, to_string(key.mode), key.mode_step.value, key.worker};
  cells.insert(cells.end(), others.begin(), others.end());
  return cells;
}

std::string step_text(const ValueKey& key) { return "step " + full_step_text(key.step, key.mode, key.mode_step); }

std::string value_heading(const ValueKey& key, bool ascii) {
  const std::string trial = key.trial.empty() ? std::string() : printable(key.trial, ascii) + "  ";
  return trial + printable(key.tensor, ascii) + "  " + step_text(key) + "  " + printable(key.worker, ascii);
}

std::string heading(const ValueKey& key, const TensorValue& value, bool ascii) {
  return value_heading(key, ascii) + "  " + std::string(to_string(value.dtype())) + " " + to_string(value.shape());
}

std::string value_name(const ValueKey& key) {
  return single_quoted(key.tensor) + " at step " + std::to_string(key.step.value);
}

void warn_unless_utf8(const Elements& elements, const ValueKey& key, Diagnostics& messages) {
  if (elements.sized()) {
    messages.note_once(
        "pictures, sounds and other bytes that are no text are shown by their length; -f raw -o DIR/ "
        "writes each to a file");
  } else if (!elements.utf8()) {
    messages.warning(value_name(key) + ": not all text is UTF-8; U+FFFD stands for other bytes");
  }
}

void OneValue::announce(const ValueKey& key) {
  const std::string of_trial = key.trial.empty() ? std::string() : " of " + single_quoted(key.trial);
  refuse_if(!first_.empty(), std::string(view_) + " shows one value only, and there are " + first_ + " and " +
                                 value_name(key) + " of " + single_quoted(key.worker) + of_trial + ": " +
                                 (first_.ends_with(of_trial) ? std::string(instead_) : "choose one trial"));
  first_ = value_name(key) + of_trial;
}

}  // namespace smd::tool::tensor
