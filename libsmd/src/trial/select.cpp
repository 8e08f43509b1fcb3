// SPDX-License-Identifier: Apache-2.0
#include "layout/name_collections.hpp"
#include "text/escape.hpp"
#include "text/pattern.hpp"
#include "trial/trial_state.hpp"

#include <numeric>
#include <optional>

namespace smd::detail::trial {

namespace {

Pattern compile_own(const std::string& text) {
  Pattern pattern;
  if (const auto error = pattern.compile(text)) {
    throw InvalidArgument("pattern " + in_quotes(text) + " does not compile: " + *error);
  }
  return pattern;
}

/// Collects the requested tensors, each once.
class Named {
 public:
  explicit Named(const layout::NameTable& tensors) : tensors_(tensors), is_named_(tensors.size(), false) {}

  void add(const std::string& name) {
    if (const std::uint32_t id = tensors_.find(name); id != no_id) {
      add(id);
    }
  }
  void add(std::uint32_t id) {
    if (!is_named_[id]) {
      is_named_[id] = true;
      ids_.push_back(id);
    }
  }
  /// Adds the tensors for which `found(id)` is true; does not call it for those already added.
  template <class Found>
  void add_found(const Found& found) {
    for (std::uint32_t id = 0; id < tensors_.size(); ++id) {
      if (!is_named_[id] && found(id)) {
        add(id);
      }
    }
  }
  [[nodiscard]] std::vector<std::uint32_t> take() { return std::move(ids_); }

 private:
  const layout::NameTable& tensors_;
  TensorSet is_named_;
  std::vector<std::uint32_t> ids_;
};

constexpr const char* too_many_steps =
    "the patterns of the trial's collections need too many steps together "
    "(pattern_trial_steps)";

/// Adds the tensors in which a pattern of the trial is found. Returns why the pattern failed, or an empty text; a
/// failure affects only this pattern.
std::string add_found(const std::string& text, const layout::NameTable& tensors, Named& named, MatchBudget& budget) {
  Pattern pattern;
  budget.spend(text.size());  // compiling takes about as long as a step for each byte
  if (const auto error = pattern.compile(text)) {
    return "does not compile: " + *error;
  }
  std::string why;
  named.add_found([&](std::uint32_t id) {
    if (!why.empty()) {
      return false;
    }
    const Pattern::Answer answer = pattern.search(tensors[id], budget);
    if (answer == Pattern::Answer::limit) {
      why = "needs too many steps on " + in_quotes(tensors[id]);
    } else if (answer == Pattern::Answer::spent) {
      why = std::string("was not looked for in all names: ") + too_many_steps;
    }
    return answer == Pattern::Answer::yes;
  });
  return why;
}

/// Adds the members of a collection.
void add_members(TrialState& state, const Snapshot& snapshot, const Collection& collection, Named& named) {
  for (const std::string& name : collection.tensor_names) {
    named.add(name);
  }
  if (collection.include_regex.empty()) {
    return;
  }
  const layout::NameTable& tensors = snapshot.catalog.tensors();
  MatchBudget budget = snapshot.asked_before.budget_of(collection.name, tensors.size());
  const auto notice = [&](const std::string& text, const std::string& why) {
    state.notice(in_file(damaged("collection " + in_quotes(collection.name) + ": pattern " + in_quotes(text) + " " +
                                 why + "; its members by name are still used"),
                         std::string(state.layout().collections_place())));
  };
  for (std::size_t i = 0; i < collection.include_regex.size(); ++i) {
    const std::string& text = collection.include_regex[i];
    if (budget.spent()) {
      const std::size_t others = collection.include_regex.size() - i - 1;
      notice(text, (others == 0 ? "was" : "and " + std::to_string(others) + " more were") +
                       " not looked for: " + too_many_steps);
      break;
    }
    if (const std::string why = add_found(text, tensors, named, budget); !why.empty()) {
      notice(text, why);
    }
  }
  snapshot.asked_before.took(collection.name, budget);
}

/// Returns the tensors of which something was saved in a mode in any of some rows. `for_each_row`: calls its argument
/// with each.
template <class ForEachRow>
TensorSet saved_in(const Snapshot& snapshot, Mode mode, const ForEachRow& for_each_row) {
  TensorSet saved(snapshot.catalog.tensors().size(), false);
  std::vector<bool> seen_lists(snapshot.catalog.item_lists(), false);
  for_each_row([&](const layout::StepRow& row) {
    if (mode != Mode::global && row.mode != mode) {
      return;
    }
    const std::uint32_t list = snapshot.catalog.item_list_id(row);
    if (!seen_lists[list]) {
      seen_lists[list] = true;
      for (const Item& item : snapshot.catalog.items(row).items) {
        saved[item.tensor] = true;
      }
    }
    for (const ShapeList::Saved& shape : snapshot.catalog.shapes(row).shapes) {
      saved[shape.tensor] = true;
    }
  });
  return saved;
}

TensorSet saved_in_mode(const Snapshot& snapshot, Mode mode) {
  return saved_in(snapshot, mode, [&](const auto& add) {
    snapshot.for_each_sequence([&](const layout::RowSequence& rows) { add(rows.row); });
  });
}

TensorSet saved_at(const Snapshot& snapshot, StepKey step, Mode mode) {
  return saved_in(snapshot, mode, [&](const auto& add) {
    for (const layout::StepRow* row : rows_at(snapshot, step)) {
      add(*row);
    }
  });
}

/// Returns the tensors that the query names, saved or not. Nullopt if it names none, which means all.
std::optional<std::vector<std::uint32_t>> named_ids(TrialState& state, const Snapshot& snapshot,
                                                    const TensorQuery& query, const TensorSet& saved,
                                                    MatchBudget& budget) {
  if (query.names.empty() && query.regex.empty() && query.collections.empty()) {
    return std::nullopt;
  }
  const layout::NameTable& tensors = snapshot.catalog.tensors();
  Named named(tensors);
  for (const std::string& name : query.names) {
    named.add(name);
  }
  for (const std::string& name : query.collections) {
    const auto it = snapshot.collections->collections->find(name);
    if (it != snapshot.collections->collections->end()) {
      add_members(state, snapshot, it->second, named);
    }
  }
  for (const std::string& text : query.regex) {
    Pattern pattern = compile_own(text);
    named.add_found([&](std::uint32_t id) { return saved[id] && pattern.found(tensors[id], budget); });
  }
  return named.take();
}

/// Metrics of the machine are only selected by name.
void leave_out_system(const Snapshot& snapshot, std::vector<std::uint32_t>& ids) {
  const auto& collections = *snapshot.collections->collections;
  const auto system = collections.find(std::string(layout::system_collection));
  const auto all = collections.find("all");
  if (system == collections.end() || all == collections.end()) {
    return;
  }
  const auto has = [](const Collection& collection, std::string_view name) {
    return std::ranges::binary_search(collection.tensor_names, name);
  };
  std::erase_if(ids, [&](std::uint32_t id) {
    const std::string_view name = snapshot.catalog.tensors()[id];
    return has(system->second, name) && !has(all->second, name);
  });
}

}  // namespace

const TensorSet& saved_ever(const Snapshot& snapshot) {
  return snapshot.asked_before.saved_ever([&] {
    return snapshot.more_names ? saved_in_mode(snapshot, Mode::global)
                               : TensorSet(snapshot.catalog.tensors().size(), true);
  });
}

bool was_saved(const Snapshot& snapshot, std::uint32_t tensor) {
  return tensor != no_id && (!snapshot.more_names || saved_ever(snapshot)[tensor]);
}

std::vector<std::uint32_t> select_ids(TrialState& state, const Snapshot& snapshot, const TensorQuery& query,
                                      MatchBudget& budget) {
  if (query.superseded) {
    TensorQuery rest = query;
    rest.superseded = false;
    return snapshot.superseded ? select_ids(state, *snapshot.superseded, rest, budget) : std::vector<std::uint32_t>();
  }
  const Mode mode = query.mode.value_or(Mode::global);
  const TensorSet saved = query.step             ? saved_at(snapshot, *query.step, mode)
                          : mode != Mode::global ? saved_in_mode(snapshot, mode)
                                                 : saved_ever(snapshot);
  std::vector<std::uint32_t> ids;
  if (auto named = named_ids(state, snapshot, query, saved, budget)) {
    ids = std::move(*named);
  } else {
    ids.resize(saved.size());
    std::iota(ids.begin(), ids.end(), 0U);
    if (state.traits().has_system) {
      leave_out_system(snapshot, ids);
    }
  }
  std::erase_if(ids, [&](std::uint32_t id) { return !saved[id]; });
  for (const std::string& text : query.exclude) {
    Pattern pattern = compile_own(text);
    std::erase_if(ids, [&](std::uint32_t id) { return pattern.found(snapshot.catalog.tensors()[id], budget); });
  }
  return ids;
}

Rows rows_at(const Snapshot& snapshot, StepKey key) {
  Rows rows;
  const std::vector<std::int64_t> steps = snapshot.global_steps(key.mode, key.number);
  if (steps.empty()) {
    return rows;
  }
  for (const layout::StepRow& row : snapshot.rows_of(*snapshot.find(steps.front()))) {
    if (key.mode == Mode::global || (row.mode == key.mode && row.mode_step == key.number)) {
      rows.push_back(&row);
    }
  }
  return rows;
}

bool has_tensor(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor) noexcept {
  return !snapshot.catalog.items(row).of(tensor).empty() || snapshot.catalog.shapes(row).of(tensor) != nullptr;
}

Rows rows_with(const Snapshot& snapshot, const Rows& rows, std::uint32_t tensor) {
  Rows with;
  for (const layout::StepRow* const row : rows) {
    if (!has_tensor(snapshot, *row, tensor)) {
      continue;
    }
    if (!with.empty() && with.back()->file.worker == row->file.worker) {
      with.back() = row;
    } else {
      with.push_back(row);
    }
  }
  return with;
}

}  // namespace smd::detail::trial
