// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "selected.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

/// With -l, or in JSON, all facts about tensors.
std::vector<Column> name_columns(const LsOptions& options) {
  const bool all = options.details;
  return {{"tensor"},
          {"shape", Align::left, all},
          {"steps", Align::right, all},
          {"first_step", Align::right, all},
          {"last_step", Align::right, all},
          {"modes", Align::left, all, true, false, show_abridged},
          {"workers", Align::left, all, true, false, show_abridged},
          {"collections", Align::left, all, true, false, show_abridged},
          {"saved", Align::left, all, true, false, show_abridged},
          {"bytes", Align::right, all},
          {"dtype", Align::left, all, all},
          written_column};
}

/// Whether any one step with what is asked for suffices: with -q, and all steps to choose from.
bool only_asks(const LsOptions& options) {
  const SelectionOptions& selection = options.selection;
  return options.output.quiet && !selection.steps && !selection.modes_given && selection.every == 1 &&
         !selection.worker;
}

bool newest_step_answers(const Trial& trial, const SelectionOptions& selection) {
  const std::size_t known = trial.steps(true).size();
  if (known == 0 || (!selection.incomplete && trial.steps(false).size() != known)) {
    return false;
  }
  if (!selection.selects_tensors() && selection.excludes.empty()) {
    return true;  // a step has a tensor
  }
  // Everything named must exist; patterns need any match.
  const auto saved = [&](const std::string& name) { return trial.has_tensor(name); };
  const auto defined = [&](const std::string& name) { return trial.collection(name).has_value(); };
  return std::ranges::all_of(selection.names, saved) && std::ranges::all_of(selection.collections, defined) &&
         !tensors_at(trial, selection, std::nullopt).empty();
}

void print(const Trial& trial, const Selection& selection, const std::vector<std::string>& names, Showing& to) {
  RowWriter& rows = to.rows;
  const std::vector<Column> columns = name_columns(to.options);
  if (std::none_of(columns.begin() + 1, columns.end(), [&](const Column& fact) { return rows.wants(fact.name); })) {
    std::vector<Cell> cells(columns.size());
    for (const std::string& name : names) {
      cells.front() = Cell(name);
      rows.row(cells);
    }
    return;
  }
  const bool wants_type = rows.wants("dtype") || rows.wants("shape");
  std::vector<TensorFacts> all = tensor_facts(trial, selection, names, to.options.selection, wants_type);
  if (wants_type) {
    read_types(trial, all, to.messages);
  }
  if (rows.wants(written_column.name)) {
    locate_first(trial, all);
  }
  auto collections = rows.wants("collections") ? collections_of(trial) : decltype(collections_of(trial))();
  for (const TensorFacts& tensor : all) {
    const TensorSummary& summary = tensor.summary;
    const std::vector<std::string> modes = mode_texts(summary.modes);
    const Cell shape = tensor.shape_varies ? Cell(varies) : summary.shape ? Cell(ShapeCell{*summary.shape}) : Cell();
    const Cell dtype = tensor.dtype_varies ? Cell(varies) : !tensor.dtype.empty() ? Cell(tensor.dtype) : Cell();
    rows.row({summary.tensor, shape, summary.steps, summary.first_step.value, summary.last_step.value, ListCell{modes},
              ListCell{summary.workers}, ListCell{collections[summary.tensor]}, ListCell{summary.saved}, summary.bytes,
              dtype, tensor.written});
  }
}

bool show_names(Trial& trial, Showing& to) {
  const LsOptions& options = to.options;
  if (only_asks(options)) {
    if (newest_step_answers(trial, options.selection)) {
      return true;
    }
    trial.load_range(StepRange());
  }
  const Selection selection = select(trial, options.selection, {.lists = false}, to.messages);
  if (selection.empty()) {
    return false;
  }
  const std::vector<std::string> names = saved_names(trial, selection, options.selection, to.messages);
  if (options.says_next()) {
    to.next = next_commands(trial);
  }
  if (!options.output.quiet) {
    print(trial, selection, names, to);
  }
  return !names.empty();
}

}  // namespace

constinit const ViewSpec names_view = {
    .details = true,
    .columns = name_columns,
    .range =
        [](const LsOptions& options) { return only_asks(options) ? StepRange{.newest = 1} : selected_range(options); },
    .show_trial = show_names};

}  // namespace smd::tool::ls
