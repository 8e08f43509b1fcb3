// SPDX-License-Identifier: Apache-2.0
#include "view.hpp"

#include "cli/mapped.hpp"

#include <array>

namespace smd::tool::ls {

std::span<const ViewSpec* const> views() noexcept {
  static constexpr std::array<const ViewSpec*, 11> table = {
      &names_view,   &tree_view,    &steps_view,     &modes_view, &workers_view, &collections_view,
      &hparams_view, &summary_view, &locations_view, &check_view, &find_view};
  return table;
}

bool ViewSpec::show(Trial& trial, Showing& to) const {
  if (show_trial != nullptr) {
    return show_trial(trial, to);
  }
  const Selection selection = select(trial, to.options.selection, {.lists = false}, to.messages);
  return !selection.empty() && show_selected(trial, selection, to);
}

std::vector<ColumnTable> column_tables() {
  LsOptions options;
  options.output.format = "tsv";
  std::vector<ColumnTable> tables;
  for (const ViewSpec* const view : views()) {
    if (const std::vector<Column> columns = view->columns(options); !columns.empty()) {
      tables.push_back(column_table(view->option.empty() ? "" : "--" + std::string(view->option), columns));
    }
  }
  return tables;
}

StepRange selected_range(const LsOptions& options) {
  return ranges_to_read(options.selection.steps, options.selection.modes).front();
}

std::vector<std::string> mode_texts(std::span<const Mode> modes) {
  return mapped(modes, [](Mode mode) { return std::string(to_string(mode)); });
}

void show_abridged(std::string& out, const Cell& cell, int precision) {
  constexpr std::size_t list_width = 40;
  const auto* const list = std::get_if<ListCell>(&cell.value());
  if (list == nullptr) {
    append_text(out, cell, precision);
    return;
  }
  const std::size_t begin = out.size();
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string& item = list->items[i];
    // Names are never cut, and one is always shown; `+1` would save nothing.
    if (i > 0 && i + 1 < list->items.size() && out.size() - begin + item.size() > list_width) {
      out += ",+" + std::to_string(list->items.size() - i);
      return;
    }
    out += (i == 0 ? "" : ",") + item;
  }
}

}  // namespace smd::tool::ls
