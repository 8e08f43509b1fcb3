// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <smd/shape.hpp>
#include <smd/snapshot.hpp>
#include <string>
#include <string_view>

#include "cli/text.hpp"
#include "operands/operands.hpp"
#include "select/select.hpp"
#include "select/trial_times.hpp"
#include "text_cells.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

constexpr std::array<Column, 19> keys = {{{"layout"},
                                          {"status"},
                                          {"age", Align::right},
                                          {"tensors", Align::right},
                                          {"collections"},
                                          {"workers"},
                                          {"modes"},
                                          {"steps", Align::right},
                                          {"first_step", Align::right},
                                          {"last_step", Align::right},
                                          {"last_complete_step", Align::right},
                                          {"bytes", Align::right},
                                          {"superseded", Align::right},
                                          {"hparams", Align::right},
                                          {"parameters", Align::right},
                                          {"dtypes"},
                                          {"disk", Align::right},
                                          {"duration", Align::right},
                                          {"exit", Align::right}}};
constexpr std::array<Column, 2> sheet_columns = {{{.name = "key", .asked = true}, {.name = "value", .asked = true}}};

/// The facts of the summary, over all steps, complete or not. Only those that are wanted are computed.
struct Summary {
  std::string_view layout;
  std::string_view status;
  std::optional<std::int64_t> exit;
  std::optional<std::int64_t> age;
  std::size_t tensors = 0;
  std::vector<std::string> collections;
  std::vector<std::string> workers;
  std::vector<std::string> modes;
  std::vector<GlobalStep> steps;
  std::optional<GlobalStep> last_complete;
  std::uint64_t bytes = 0;
  std::uint64_t superseded = 0;
  std::uint64_t hyperparameters = 0;
  std::optional<std::uint64_t> parameters;
  std::vector<std::string> dtypes;
  std::optional<std::uint64_t> disk;
  std::optional<double> duration;

  template <class Wants>
  Summary(const Trial& trial, Wants&& wants, Diagnostics& messages)
      : layout(trial.layout().name),
        status(job_status(trial)),
        exit(trial.exit_code()),
        steps(trial.steps(true)),
        last_complete(trial.last_complete_step()) {
    if ((wants("age") && status != "ended") || wants("disk")) {
      if (const std::optional<FileTotals> files = file_totals(trial)) {
        age = status != "ended" ? std::optional(age_of(*files)) : std::nullopt;
        disk = files->bytes;
      }
    }
    if (wants("duration")) {
      duration = pace_of(trial, steps, messages).duration;
    }
    if (trial.layout().has_headers && (wants("parameters") || wants("dtypes")) && !steps.empty()) {
      add_parameters(trial);
    }
    if (wants("tensors")) {
      tensors = trial.tensor_names().size();
    }
    if (wants("collections")) {
      const auto by_name = TrialSnapshot::take(trial).collections();
      for (const auto& [name, collection] : *by_name) {
        collections.push_back(name);
      }
    }
    if (wants("workers")) {
      std::set<std::string> all;
      for (std::vector<std::string> some : {trial.workers(), trial.writers()}) {
        all.insert(some.begin(), some.end());
      }
      workers.assign(all.begin(), all.end());
    }
    if (!trial.layout().has_modes) {
      if (wants("bytes")) {
        for (const TensorSummary& tensor : trial.summaries()) {
          bytes += tensor.bytes;
        }
      }
      if (!steps.empty()) {
        modes = mode_texts(std::array{Mode::global});
      }
    } else if (wants("modes") || wants("bytes")) {
      const std::vector<Mode> claimed = trial.modes();  // by any worker; a step's own is that of its first
      std::set<Mode> seen(claimed.begin(), claimed.end());
      for (const StepInfo& info : trial.step_infos()) {
        seen.insert(info.mode);
        bytes += info.bytes;
      }
      modes = mode_texts(std::vector<Mode>(seen.begin(), seen.end()));
    }
    if (wants("superseded")) {
      for (const auto& [tensor, count] : trial.superseded()) {
        superseded += count;
      }
    }
    if (wants("hparams")) {
      hyperparameters = trial.hyperparameters().records;
    }
  }

  /// In the order of `keys`; borrowed from here.
  [[nodiscard]] std::array<Cell, keys.size()> cells() const {
    const auto number = [](const std::optional<GlobalStep>& step) { return step ? Cell(step->value) : Cell(); };
    return {layout,
            status,
            age ? Cell(*age) : Cell(),
            tensors,
            ListCell{collections},
            ListCell{workers},
            ListCell{modes},
            steps.size(),
            steps.empty() ? Cell() : Cell(steps.front().value),
            steps.empty() ? Cell() : Cell(steps.back().value),
            number(last_complete),
            bytes,
            superseded,
            hyperparameters,
            parameters ? Cell(*parameters) : Cell(),
            parameters ? Cell(ListCell{dtypes}) : Cell(),
            disk ? Cell(*disk) : Cell(),
            duration ? Cell(*duration) : Cell(),
            exit ? Cell(*exit) : Cell()};
  }

 private:
  /// By the headers of the last step; numbers of a training log beside it are no parameters.
  void add_parameters(const Trial& trial) {
    std::set<std::string> types;
    trial.for_each_entry({.steps = std::vector{steps.back()}, .include_incomplete = true}, [&](const TensorEntry& one) {
      if (one.value && one.value->form() == ValueForm::elements) {
        const ValueType& type = *one.value->type;
        parameters = parameters.value_or(0) + element_count(type.shape).value_or(0);
        types.insert(type.unread_type.empty() ? std::string(to_string(type.dtype)) : type.unread_type);
      }
      return true;
    });
    dtypes.assign(types.begin(), types.end());
  }
};

/// Reports, with -v, what the summary only counts: which tensors have superseded values, and the hyperparameters.
void say_details(const Trial& trial, Diagnostics& messages) {
  if (!messages.shows(Level::info)) {
    return;
  }
  say_superseded(trial.superseded(), messages);
  for (const auto& [name, value] : trial.hyperparameters().values) {
    std::string text = "hyperparameter ";
    messages.info(text.append(name).append(" = ").append(value));
  }
}

/// Whether a line of the sheet has information about this trial.
bool says_something(const Column& key, const Cell& cell) {
  if (cell.missing()) {  // the age of a job that is over, the parameters of a log
    return key.name.ends_with("_step");
  }
  const auto* const count = std::get_if<std::uint64_t>(&cell.value());
  return (key.name != "superseded" && key.name != "hparams") || count == nullptr || *count != 0;
}

/// A row, or, for people who ask for one trial and did not choose columns, a sheet with a line for each key.
class SummaryView final : public OneTrialView {
 public:
  using OneTrialView::OneTrialView;

  [[nodiscard]] std::span<const Column> columns() const override {
    return sheet() ? std::span<const Column>(sheet_columns) : std::span<const Column>(keys);
  }

  [[nodiscard]] OutputOptions output() const override {
    OutputOptions changed = options().output;
    if (options().key) {
      changed.columns = {*options().key};
    }
    if (options().key || sheet()) {
      changed.header = false;
    }
    return changed;
  }

 protected:
  [[nodiscard]] StepRange range() const override {
    // The newest index file alone tells the last step, unless it is damaged or empty.
    return options().key == "last_step" || options().key == "age" ? StepRange::newest(1) : StepRange();
  }

  bool show_trial(Trial& trial, RowWriter& rows, Diagnostics& messages) override {
    if (options().output.quiet) {
      return true;
    }
    if (options().key == "last_step" && trial.steps(true).empty()) {
      trial.load_range(StepRange());
    }
    say_details(trial, messages);
    const bool as_sheet = sheet();
    const Summary summary(
        trial, [&](std::string_view key) { return as_sheet || rows.wants(key); }, messages);
    const std::array<Cell, keys.size()> cells = summary.cells();
    if (!as_sheet) {
      rows.row(cells);
      return true;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (says_something(keys[i], cells[i])) {
        rows.row({keys[i].name, cells[i]});
      }
    }
    return true;
  }

 private:
  [[nodiscard]] bool sheet() const {
    return options().for_people() && !options().key && !may_be_several(options().operands);
  }
};

}  // namespace

std::span<const Column> summary_columns() noexcept { return keys; }

std::unique_ptr<View> make_summary_view(const LsOptions& options) { return std::make_unique<SummaryView>(options); }

}  // namespace smd::tool::ls
