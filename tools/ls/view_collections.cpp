// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "cli/text.hpp"
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
    const std::map<std::string, Collection> collections = trial.collections();
    const std::vector<std::string> asked = collections_asked(collections, messages);
    if (asked.empty() && !options().selection.collections.empty()) {
      return false;
    }
    const std::optional<std::vector<std::string>> tensors = tensors_asked(trial, messages);
    for (const auto& [name, collection] : collections) {
      if (asked.empty() || std::find(asked.begin(), asked.end(), name) != asked.end()) {
        print(trial, collection, name, tensors, rows);
      }
    }
    return true;
  }

 private:
  /// The collections of -c that are defined; reports the others.
  std::vector<std::string> collections_asked(const std::map<std::string, Collection>& known,
                                             Diagnostics& messages) const {
    std::vector<std::string> asked;
    for (const std::string& name : options().selection.collections) {
      if (known.contains(name)) {
        asked.push_back(name);
        continue;
      }
      messages.fail("NotFound", undefined_collection(name, known), ExitStatus::no);
    }
    return asked;
  }

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
