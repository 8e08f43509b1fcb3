// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "cli/text.hpp"
#include "select/explanations.hpp"
#include "selected.hpp"
#include "text_cells.hpp"
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

constexpr std::array<Column, 5> collection_columns = {{{"collection"},
                                                       {"tensors", Align::right},
                                                       {"tensors_saved", Align::right, true, true, false, show_saved},
                                                       {"regex"},
                                                       {"reductions", Align::left, true, true, false, show_abridged}}};

class CollectionsView final : public OneTrialView {
 public:
  using OneTrialView::OneTrialView;

  [[nodiscard]] std::span<const Column> columns() const override { return collection_columns; }

 protected:
  bool show_trial(Trial& trial, RowWriter& rows, Diagnostics& messages) override {
    std::map<std::string, Collection> shown = trial.collections();
    if (const std::vector<std::string>& asked = options().selection.collections; !asked.empty()) {
      shown.clear();
      for (const std::string& name : asked) {
        if (std::optional<Collection> collection = trial.collection(name)) {
          shown.emplace(name, *std::move(collection));
        } else {
          messages.fail("NotFound", undefined_collection(name, trial), ExitStatus::no);
        }
      }
      if (shown.empty()) {
        return false;
      }
    }
    const std::optional<std::vector<std::string>> tensors = tensors_asked(trial, messages);
    for (const auto& [name, collection] : shown) {
      print(trial, collection, name, tensors, rows);
    }
    return true;
  }

 private:
  /// The tensors that the rest of the selection selects; nullopt if that is all of them.
  std::optional<std::vector<std::string>> tensors_asked(Trial& trial, Diagnostics& messages) const {
    SelectionOptions rest = options().selection;
    rest.collections.clear();
    const bool narrows = rest.selects_tensors() || !rest.excludes.empty() || rest.steps || rest.modes_given ||
                         rest.every != 1 || rest.worker;
    if (!narrows) {
      return std::nullopt;
    }
    const Selection selection = select(trial, rest, {.lists = false}, messages);
    return !selection.empty() ? saved_names(trial, selection, rest, messages) : std::vector<std::string>();
  }

  void print(const Trial& trial, const Collection& collection, const std::string& name,
             const std::optional<std::vector<std::string>>& tensors, RowWriter& rows) const {
    std::size_t count = 0;
    if (rows.wants("tensors_saved")) {
      TensorQuery query;
      query.collections = {name};
      std::vector<std::string> saved = trial.tensor_names(query);
      if (tensors) {
        std::vector<std::string> both;
        std::set_intersection(saved.begin(), saved.end(), tensors->begin(), tensors->end(), std::back_inserter(both));
        saved = std::move(both);
      }
      count = saved.size();
    }
    static const std::vector<std::string> none;
    rows.row({name, collection.tensor_names.size(), count, ListCell{collection.include_regex},
              ListCell{collection.reduction_config ? collection.reduction_config->reductions : none}});
  }
};

}  // namespace

std::unique_ptr<View> make_collections_view(const LsOptions& options) {
  return std::make_unique<CollectionsView>(options);
}

}  // namespace smd::tool::ls
