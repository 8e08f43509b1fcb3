// SPDX-License-Identifier: Apache-2.0
#include "base/escape.hpp"
#include "base/pattern.hpp"
#include "trial/trial_state.hpp"

#include <algorithm>

namespace smd::detail::trial {

namespace {

Pattern compile_own(const std::string& text) {
  Pattern pattern;
  if (const auto error = pattern.compile(text)) {
    throw InvalidArgument("pattern '" + printable(text) + "' does not compile: " + *error);
  }
  return pattern;
}

/// Whether a pattern of the caller is found in a name; a limit is an error, never "no".
bool found(Pattern& pattern, std::string_view name) {
  const Pattern::Answer answer = pattern.search(name);
  if (answer == Pattern::Answer::limit) {
    throw MatchLimit("pattern '" + printable(pattern.text()) + "' needs too many steps on '" + printable(name) +
                         "'; make it simpler",
                     pattern.text());
  }
  return answer == Pattern::Answer::yes;
}

/// Adds the members of a collection among `tensors`. A pattern of the trial that does not work costs only itself.
void add_members(TrialState& state, const Snapshot& snapshot, const Collection& collection, TensorSet& members) {
  const layout::NameTable& tensors = snapshot.catalog.tensors();
  for (const std::string& name : collection.tensor_names) {
    if (const std::uint32_t id = tensors.find(name); id != no_id) {
      members[id] = true;
    }
  }
  for (const std::string& text : collection.include_regex) {
    const auto complain = [&](const std::string& why) {
      state.notice({ProblemKind::damaged,
                    "collections/000000000",
                    {},
                    "collection '" + printable(collection.name) + "': pattern '" + printable(text) + "' " + why +
                        "; its members by name are still used"});
    };
    Pattern pattern;
    if (const auto error = pattern.compile(text)) {
      complain("does not compile: " + *error);
      continue;
    }
    for (std::uint32_t id = 0; id < tensors.size(); ++id) {
      if (members[id]) {
        continue;
      }
      const Pattern::Answer answer = pattern.search(tensors[id]);
      if (answer == Pattern::Answer::limit) {
        complain("needs too many steps on '" + printable(tensors[id]) + "'");
        break;
      }
      members[id] = answer == Pattern::Answer::yes;
    }
  }
}

/// Tensors of which something was saved in some of the rows.
class SavedIn {
 public:
  explicit SavedIn(const Snapshot& snapshot)
      : snapshot_(snapshot),
        saved_(snapshot.catalog.tensors().size(), false),
        seen_lists_(snapshot.catalog.item_lists(), false) {}

  void add(const layout::StepRow& row) {
    const std::uint32_t list = snapshot_.catalog.item_list_id(row);
    if (!seen_lists_[list]) {
      seen_lists_[list] = true;
      for (const Item& item : snapshot_.catalog.items(row).items) {
        saved_[item.tensor] = true;
      }
    }
    if (const ShapeList* const shapes = snapshot_.catalog.shapes(row)) {
      for (const ShapeList::Saved& saved : shapes->shapes) {
        saved_[saved.tensor] = true;
      }
    }
  }
  [[nodiscard]] TensorSet take() { return std::move(saved_); }

 private:
  const Snapshot& snapshot_;
  TensorSet saved_;
  std::vector<bool> seen_lists_;
};

TensorSet saved_tensors(const Snapshot& snapshot, const TensorQuery& query) {
  SavedIn saved(snapshot);
  if (query.step) {
    for (const layout::StepRow* row : rows_at(snapshot, *query.step)) {
      if (!query.mode || *query.mode == Mode::global || row->mode == *query.mode) {
        saved.add(*row);
      }
    }
    return saved.take();
  }
  for (const Step& step : snapshot.steps) {
    for (const layout::StepRow& row : snapshot.rows_of(step)) {
      if (!query.mode || *query.mode == Mode::global || row.mode == *query.mode) {
        saved.add(row);
      }
    }
  }
  return saved.take();
}

}  // namespace

TensorSet select_tensors(TrialState& state, const Snapshot& snapshot, const TensorQuery& query) {
  const layout::NameTable& tensors = snapshot.catalog.tensors();
  TensorSet selected = saved_tensors(snapshot, query);
  if (!query.names.empty() || !query.regex.empty() || !query.collections.empty()) {
    TensorSet named(tensors.size(), false);
    for (const std::string& name : query.names) {
      if (const std::uint32_t id = tensors.find(name); id != no_id) {
        named[id] = true;
      }
    }
    for (const std::string& name : query.collections) {
      const auto it = snapshot.collections->collections.find(name);
      if (it != snapshot.collections->collections.end()) {
        add_members(state, snapshot, it->second, named);
      }
    }
    for (const std::string& text : query.regex) {
      Pattern pattern = compile_own(text);
      for (std::uint32_t id = 0; id < tensors.size(); ++id) {
        named[id] = named[id] || (selected[id] && found(pattern, tensors[id]));
      }
    }
    std::transform(selected.begin(), selected.end(), named.begin(), selected.begin(), std::logical_and<>());
  }
  for (const std::string& text : query.exclude) {
    Pattern pattern = compile_own(text);
    for (std::uint32_t id = 0; id < tensors.size(); ++id) {
      selected[id] = selected[id] && !found(pattern, tensors[id]);
    }
  }
  return selected;
}

std::vector<const layout::StepRow*> rows_at(const Snapshot& snapshot, StepKey key) {
  std::vector<const layout::StepRow*> rows;
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
  if (!snapshot.catalog.items(row).of(tensor).empty()) {
    return true;
  }
  const ShapeList* const shapes = snapshot.catalog.shapes(row);
  return shapes != nullptr && shapes->of(tensor) != nullptr;
}

std::vector<const layout::StepRow*> rows_with(const Snapshot& snapshot, const std::vector<const layout::StepRow*>& rows,
                                              std::uint32_t tensor) {
  std::vector<const layout::StepRow*> with;
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
