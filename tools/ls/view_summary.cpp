// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <smd/shape.hpp>
#include <smd/snapshot.hpp>
#include <string>
#include <string_view>

#include "cli/mapped.hpp"
#include "follow/followed_trials.hpp"
#include "select/select.hpp"
#include "select/trial_times.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

/// A trial of which values of the summary are found, over all steps, complete or not.
struct Summary {
  const Trial& trial;
  Diagnostics& messages;
  std::string_view status = job_status(trial);
  std::vector<GlobalStep> steps = trial.steps(true);
  std::optional<std::optional<FileTotals>> totals = {};  ///< Nullopt: not asked for yet.
  std::deque<std::vector<std::string>> lists = {};       ///< That cells borrow.

  [[nodiscard]] const std::optional<FileTotals>& files() {
    totals = totals ? totals : file_totals(trial);
    return *totals;
  }
  template <class Items>
  [[nodiscard]] Cell list(const Items& items) {
    return ListCell{lists.emplace_back(items.begin(), items.end())};
  }
};

/// The elements of values at the last step whose headers tell their shapes, and their types; nullopt: there are none.
/// Numbers of a training log beside them are no parameters.
std::optional<std::uint64_t> parameters_of(const Summary& of, std::set<std::string>& types) {
  std::optional<std::uint64_t> parameters;
  if (of.trial.layout().has_headers && !of.steps.empty()) {
    const EntryQuery last = {.steps = std::vector{of.steps.back()}, .include_incomplete = true};
    of.trial.for_each_entry(last, [&](const TensorEntry& one) {
      if (one.value && one.value->form() == ValueForm::elements) {
        const ValueType& type = *one.value->type;
        parameters = parameters.value_or(0) + element_count(type.shape).value_or(0);
        types.insert(type.unread_type.empty() ? std::string(to_string(type.dtype)) : type.unread_type);
      }
      return true;
    });
  }
  return parameters;
}

Cell collections_cell(Summary& of) { return of.list(keys_of(*TrialSnapshot::take(of.trial).collections())); }

Cell modes_cell(Summary& of) {
  std::set<Mode> modes;
  if (of.trial.layout().has_modes) {
    const std::vector<Mode> claimed = of.trial.modes();  // by any worker; a step's own is that of its first
    modes.insert(claimed.begin(), claimed.end());
    std::ranges::transform(of.trial.step_infos(), std::inserter(modes, modes.end()), &StepInfo::mode);
  } else if (!of.steps.empty()) {
    modes.insert(Mode::global);
  }
  return of.list(mode_texts(std::vector<Mode>(modes.begin(), modes.end())));
}

Cell bytes_cell(Summary& of) {
  return of.trial.layout().has_modes ? sum_of(of.trial.step_infos(), &StepInfo::bytes)
                                     : sum_of(of.trial.summaries(), &TensorSummary::bytes);
}

Cell parameters_cell(Summary& of) {
  std::set<std::string> types;
  return parameters_of(of, types);
}

Cell dtypes_cell(Summary& of) {
  std::set<std::string> types;
  return parameters_of(of, types) ? of.list(types) : Cell();
}

struct Key {
  std::string_view name;
  Align align;
  Cell (*cell)(Summary& of);
};
constexpr Key keys[] = {
    {"layout", Align::left, [](Summary& of) { return Cell(of.trial.layout().name); }},
    {"status", Align::left, [](Summary& of) { return Cell(of.status); }},
    {"age", Align::right,
     [](Summary& of) { return of.status != "ended" && of.files() ? Cell(age_of(*of.files())) : Cell(); }},
    {"tensors", Align::right, [](Summary& of) { return Cell(of.trial.tensor_names().size()); }},
    {"collections", Align::left, collections_cell},
    {"workers", Align::left, [](Summary& of) { return of.list(known_workers(of.trial)); }},
    {"modes", Align::left, modes_cell},
    {"steps", Align::right, [](Summary& of) { return Cell(of.steps.size()); }},
    {"first_step", Align::right, [](Summary& of) { return of.steps.empty() ? Cell() : Cell(of.steps.front().value); }},
    {"last_step", Align::right, [](Summary& of) { return of.steps.empty() ? Cell() : Cell(of.steps.back().value); }},
    {"last_complete_step", Align::right, [](Summary& of) { return Cell(of.trial.last_complete_step()); }},
    {"bytes", Align::right, bytes_cell},
    {"superseded", Align::right, [](Summary& of) { return Cell(superseded_values(of.trial)); }},
    {"hparams", Align::right, [](Summary& of) { return Cell(std::uint64_t{of.trial.hyperparameter_records()}); }},
    {"parameters", Align::right, parameters_cell},
    {"dtypes", Align::left, dtypes_cell},
    {"disk", Align::right, [](Summary& of) { return of.files() ? Cell(of.files()->bytes) : Cell(); }},
    {"duration", Align::right, [](Summary& of) { return Cell(pace_of(of.trial, of.steps, of.messages).duration); }},
    {"exit", Align::right, [](Summary& of) { return Cell(of.trial.exit_code()); }},
};

std::vector<Column> summary_columns(const LsOptions& options) {
  if (options.shows_sheet()) {
    return {{.name = "key", .asked = true}, {.name = "value", .asked = true}};
  }
  return mapped(keys, [](const Key& key) { return Column{key.name, key.align}; });
}

/// Reports, with -v, what the summary only counts: which tensors have superseded values, and the hyperparameters.
void say_details(const Trial& trial, Diagnostics& messages) {
  if (!messages.shows(Level::info)) {
    return;
  }
  say_superseded(trial.superseded(), messages);
  for (const auto& [name, value] : trial.hyperparameters()) {
    messages.info(fmt::format("hyperparameter {} = {}", name, value));
  }
}

/// Whether a line of the sheet has information about this trial.
bool says_something(std::string_view key, const Cell& cell) {
  if (cell.missing()) {  // the age of a job that is over, the parameters of a log
    return key.ends_with("_step");
  }
  const auto* const count = std::get_if<std::uint64_t>(&cell.value());
  return (key != "superseded" && key != "hparams") || count == nullptr || *count != 0;
}

bool show_summary(Trial& trial, Showing& to) {
  if (to.options.output.quiet) {
    return true;
  }
  if (to.options.key == "last_step" && trial.steps(true).empty()) {
    trial.load_range(StepRange());
  }
  say_details(trial, to.messages);
  Summary summary = {trial, to.messages};
  const bool sheet = to.options.shows_sheet();
  const std::vector<Cell> cells =
      mapped(keys, [&](const Key& key) { return sheet || to.rows.wants(key.name) ? key.cell(summary) : Cell(); });
  if (!sheet) {
    to.rows.row(cells);
    return true;
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (says_something(keys[i].name, cells[i])) {
      to.rows.row({keys[i].name, cells[i]});
    }
  }
  return true;
}

/// The newest index file alone tells the last step, unless it is damaged or empty.
StepRange summary_range(const LsOptions& options) {
  return options.key == "last_step" || options.key == "age" ? StepRange{.newest = 1} : StepRange();
}

}  // namespace

const std::vector<std::string_view>& summary_keys() {
  static const std::vector<std::string_view> names = mapped(keys, &Key::name);
  return names;
}

constinit const ViewSpec summary_view = {.option = "summary",
                                         .selects = false,
                                         .columns = summary_columns,
                                         .range = summary_range,
                                         .show_trial = show_summary};

}  // namespace smd::tool::ls
