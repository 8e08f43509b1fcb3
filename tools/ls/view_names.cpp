// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "next_commands.hpp"
#include "tensor_facts.hpp"
#include "text_cells.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

/// The default view: tensor names; with -l, or in JSON, all facts about them.
class NamesView final : public OneTrialView {
 public:
  explicit NamesView(const LsOptions& options) : OneTrialView(options) {
    const bool all = options.details;
    columns_ = {{{"tensor"},
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
                 written_column}};
  }

  [[nodiscard]] std::span<const Column> columns() const override { return columns_; }

 protected:
  [[nodiscard]] StepRange range() const override { return only_asks() ? StepRange::newest(1) : OneTrialView::range(); }

  bool show_trial(Trial& trial, RowWriter& rows, Diagnostics& messages) override {
    if (only_asks()) {
      if (newest_step_answers(trial)) {
        return true;
      }
      trial.load_range(StepRange());
    }
    const Selection selection = select(trial, options().selection, {.lists = false}, messages);
    if (selection.empty()) {
      return false;
    }
    std::vector<std::string> names = saved_names(trial, selection, options().selection, messages);
    const bool found = !names.empty();
    if (options().says_next()) {
      set_next(next_commands(trial));
    }
    names.resize(std::min(names.size(), rows.room().value_or(names.size())));
    if (!options().output.quiet) {
      print(trial, selection, names, rows, messages);
    }
    return found;
  }

 private:
  /// Whether any one step with what is asked for suffices: with -q, and all steps to choose from.
  [[nodiscard]] bool only_asks() const {
    const SelectionOptions& selection = options().selection;
    return options().output.quiet && !selection.steps && !selection.modes_given && selection.every == 1 &&
           !selection.worker;
  }

  [[nodiscard]] bool newest_step_answers(const Trial& trial) const {
    const SelectionOptions& selection = options().selection;
    const std::size_t known = trial.steps(true).size();
    if (known == 0 || (!selection.incomplete && trial.steps(false).size() != known)) {
      return false;
    }
    if (!selection.selects_tensors() && selection.excludes.empty()) {
      return true;  // a step has a tensor
    }
    // Everything named must exist; patterns need any match.
    const auto saved = [&](const std::string& name) { return trial.has_tensor(name); };
    if (!std::all_of(selection.names.begin(), selection.names.end(), saved)) {
      return false;
    }
    const auto defined = [&](const std::string& name) { return trial.collection(name).has_value(); };
    if (!std::all_of(selection.collections.begin(), selection.collections.end(), defined)) {
      return false;
    }
    return !tensors_at(trial, selection, std::nullopt).empty();
  }

  void print(const Trial& trial, const Selection& selection, const std::vector<std::string>& names, RowWriter& rows,
             Diagnostics& messages) const {
    constexpr std::array<std::string_view, 10> facts = {
        "shape", "steps",   "first_step", "last_step", "modes",
        "saved", "workers", "bytes",      "dtype",     written_column.name};
    const bool wants_collections = rows.wants("collections");
    if (!wants_collections && std::none_of(facts.begin(), facts.end(), [&](auto key) { return rows.wants(key); })) {
      std::array<Cell, column_count> cells;
      for (const std::string& name : names) {
        cells.front() = Cell(name);
        rows.row(cells);
      }
      return;
    }
    const bool wants_type = rows.wants("dtype") || rows.wants("shape");
    std::vector<TensorFacts> all = tensor_facts(trial, selection, names, options().selection, wants_type);
    if (wants_type) {
      read_types(trial, all, messages);
    }
    if (rows.wants(written_column.name)) {
      locate_first(trial, all);
    }
    const auto collections = wants_collections ? collections_of(trial) : decltype(collections_of(trial))();
    for (const TensorFacts& tensor : all) {
      const auto member = collections.find(tensor.summary.tensor);
      print_row(tensor, member == collections.end() ? std::vector<std::string>() : member->second, rows);
    }
  }

  void print_row(const TensorFacts& tensor, const std::vector<std::string>& collections, RowWriter& rows) const {
    const TensorSummary& summary = tensor.summary;
    const std::vector<std::string> modes = mode_texts(summary.modes);
    const Cell shape = tensor.shape_varies ? Cell(varies) : summary.shape ? Cell(ShapeCell{*summary.shape}) : Cell();
    const Cell dtype = tensor.dtype_varies ? Cell(varies) : !tensor.dtype.empty() ? Cell(tensor.dtype) : Cell();
    rows.row({summary.tensor, shape, summary.steps, summary.first_step.value, summary.last_step.value, ListCell{modes},
              ListCell{summary.workers}, ListCell{collections}, ListCell{summary.saved}, summary.bytes, dtype,
              tensor.written});
  }

  static constexpr std::size_t column_count = 12;
  std::array<Column, column_count> columns_;
};

}  // namespace

std::unique_ptr<View> make_names_view(const LsOptions& options) { return std::make_unique<NamesView>(options); }

}  // namespace smd::tool::ls
