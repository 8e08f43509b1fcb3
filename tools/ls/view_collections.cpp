// SPDX-License-Identifier: Apache-2.0
// Views of what the job was configured with.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "rows/cell.hpp"
#include "select/explanations.hpp"
#include "selected.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

void show_saved(std::string& out, const Cell& cell, int precision) {
  const auto* count = std::get_if<std::uint64_t>(&cell.value());
  if (count != nullptr && *count == 0) {
    out += "configured, nothing saved";
  } else {
    append_text(out, cell, precision);
  }
}

std::vector<Column> collection_columns(const LsOptions&) {
  return {{"collection"},
          {"tensors", Align::right},
          {"tensors_saved", Align::right, true, true, false, show_saved},
          {"regex"},
          {"reductions", Align::left, true, true, false, show_abridged}};
}

/// The tensors that the selection selects beside collections; nullopt if that is all of them.
std::optional<std::vector<std::string>> tensors_asked(Trial& trial, const Showing& to) {
  SelectionOptions rest = to.options.selection;
  rest.collections.clear();
  const bool narrows = rest.selects_tensors() || !rest.excludes.empty() || rest.steps || rest.modes_given ||
                       rest.every != 1 || rest.worker;
  if (!narrows) {
    return std::nullopt;
  }
  const Selection selection = select(trial, rest, {.lists = false}, to.messages);
  return !selection.empty() ? saved_names(trial, selection, rest, to.messages) : std::vector<std::string>();
}

bool show_collections(Trial& trial, Showing& to) {
  std::map<std::string, Collection> shown = trial.collections();
  if (const std::vector<std::string>& asked = to.options.selection.collections; !asked.empty()) {
    shown.clear();
    for (const std::string& name : asked) {
      if (std::optional<Collection> collection = trial.collection(name)) {
        shown.emplace(name, *std::move(collection));
      } else {
        to.messages.fail("NotFound", undefined_collection(name, trial), ExitStatus::no);
      }
    }
    if (shown.empty()) {
      return false;
    }
  }
  const std::optional<std::vector<std::string>> tensors = tensors_asked(trial, to);
  for (const auto& [name, collection] : shown) {
    std::vector<std::string> saved;
    if (to.rows.wants("tensors_saved")) {
      saved = trial.tensor_names({.collections = {name}});
    }
    if (tensors) {
      std::erase_if(saved, [&](const std::string& tensor) { return !std::ranges::binary_search(*tensors, tensor); });
    }
    static const std::vector<std::string> none;
    to.rows.row({name, collection.tensor_names.size(), saved.size(), ListCell{collection.include_regex},
                 ListCell{collection.reduction_config ? collection.reduction_config->reductions : none}});
  }
  return true;
}

std::vector<Column> hparam_columns(const LsOptions&) { return {{"key"}, {"value"}}; }

bool show_hparams(Trial& trial, Showing& to) {
  const std::map<std::string, std::string> all = trial.hyperparameters();
  for (const auto& [key, json] : all) {
    const HpValue value(json);
    to.rows.row({key, value.cell(to.options.output.json())});
  }
  if (all.empty()) {
    to.messages.nothing("TensorUnavailable", "no hyperparameters were saved");
  }
  return !all.empty();
}

}  // namespace

constinit const ViewSpec collections_view = {
    .option = "collections", .columns = collection_columns, .show_trial = show_collections};

constinit const ViewSpec hparams_view = {.option = "hparams",
                                         .selects = false,
                                         .columns = hparam_columns,
                                         .range = [](const LsOptions&) { return StepRange(); },
                                         .show_trial = show_hparams};

}  // namespace smd::tool::ls
