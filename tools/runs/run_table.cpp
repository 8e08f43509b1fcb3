// SPDX-License-Identifier: Apache-2.0
#include "run_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "cli/mapped.hpp"
#include "cli/text.hpp"

namespace smd::tool::runs {

namespace {

/// The default number of scalars.
constexpr std::size_t most_scalars = 4;

/// A column, and its cells. Those of a run that cannot be read are missing, but for its path and status.
struct RunColumn {
  Column column;
  std::function<Cell(const RunFacts& run)> cell;
};

/// The columns that every table of runs has; `planned`: with the time until that step.
std::vector<RunColumn> fixed(const std::optional<std::int64_t>& planned) {
  const auto number = [](std::string_view name) { return Column{.name = name, .align = Align::right}; };
  std::vector<RunColumn> columns = {
      {{.name = "run", .in_table = false}, [](const RunFacts& run) { return Cell(run.run); }},
      {{.name = "layout"}, [](const RunFacts& run) { return run.readable() ? Cell(run.layout) : Cell(); }},
      {{.name = "status"}, [](const RunFacts& run) { return Cell(run.status); }},
      {number("age"),
       [](const RunFacts& run) { return run.files && run.status != "ended" ? Cell(age_of(*run.files)) : Cell(); }},
      {number("steps"), [](const RunFacts& run) { return run.readable() ? Cell(run.steps) : Cell(); }},
      {number("last_step"), [](const RunFacts& run) { return Cell(run.last_step); }},
      {number("duration"), [](const RunFacts& run) { return Cell(run.pace.duration); }},
      {number("rate"), [](const RunFacts& run) { return Cell(run.pace.rate); }},
      {number("disk"), [](const RunFacts& run) { return run.files ? Cell(run.files->bytes) : Cell(); }}};
  if (planned) {
    columns.push_back({{.name = "eta", .align = Align::right, .asked = true}, [step = *planned](const RunFacts& run) {
                         const double left = static_cast<double>(step) - static_cast<double>(run.last_step.value_or(0));
                         return !run.last_step || run.status == "ended" ? Cell()
                                : left <= 0                             ? Cell(0.0)
                                : run.pace.rate.value_or(0) > 0         ? Cell(left / *run.pace.rate)
                                                                        : Cell();
                       }});
  }
  return columns;
}

/// The last column.
constexpr Column exit_column = {.name = "exit", .align = Align::right};

/// A scalar, and the names of its columns.
struct ShownScalar {
  std::string name;
  bool least;
  bool guessed;  // its name does not say so
  std::string last_column = {};
  std::string best_column = {};
  std::string step_column = {};

  /// Names the columns after the scalar, with one more prefix while another column has such a name.
  void name_columns(std::set<std::string>& taken) {
    const auto is_taken = [&](const std::string& column) {
      return taken.contains(column) || column.starts_with("hp.");
    };
    std::string prefix;
    do {
      last_column = prefix + name;
      best_column = last_column + (least ? ":min" : ":max");
      step_column = last_column + "@best";
      prefix += "scalar.";
    } while (is_taken(last_column) || is_taken(best_column) || is_taken(step_column));
    taken.insert({last_column, best_column, step_column});
  }
};

class RunTable {
 public:
  RunTable(const std::vector<RunFacts>& runs, const RunsOptions& options, bool may_grow)
      : runs_(runs), options_(options), may_grow_(may_grow), fixed_(fixed(options.planned)) {
    choose_scalars();
    choose_hyperparameters();
    list_columns();
  }

  void print(OutputFile& out, Diagnostics& messages) {
    const std::vector<Column> columns = mapped(columns_, &RunColumn::column);
    output_.join_names(mapped(columns, &Column::name));
    if (may_grow_ || std::ranges::none_of(runs_, &RunFacts::readable)) {  // nobody knows the names of all scalars
      const auto unknown = [&](const std::string& name) {
        const bool known =
            name == "trial" || name == "all" || std::ranges::find(columns, name, &Column::name) != columns.end();
        if (!known && may_grow_) {
          messages.note_once(single_quoted(name) + " is no column so far");
        }
        return !known;
      };
      std::erase_if(output_.columns, unknown);
      std::erase_if(output_.sort, [&](const SortKey& key) { return unknown(key.column); });
      std::erase_if(output_.where, [&](const Comparison& one) { return unknown(one.name); });
    }
    const bool has_eta = std::ranges::find(columns, "eta", &Column::name) != columns.end();
    refuse_if(!has_eta && output_.names("eta") && !output_.names("all"), "the column eta needs --until-step N");
    output_.with_trial = output_.columns.empty() || output_.with_trial;
    output_.column_hint = " (other scalars: -n NAME)";
    if (options_.best && output_.sort.empty()) {
      output_.sort = {{scalars_.front().best_column, !scalars_.front().least}};
    }
    RowWriter rows(out, output_, columns, true, messages);
    for (const RunFacts& run : runs_) {
      rows.set_trial(run.trial);
      if (output_.json()) {
        scalars_json_ = scalars_json(run, output_);
        hyperparameters_json_ = hyperparameters_json(run, output_);
      }
      rows.row_of([&](std::size_t i) { return columns_[i].cell(run); });
    }
    rows.finish();
  }

  void say_doubts(Diagnostics& messages) const {
    const auto printed = [&](std::string_view column) { return output_.columns.empty() || output_.names(column); };
    for (const ShownScalar& scalar : scalars_) {
      const bool asked = scalar.name == options_.best;
      const bool shown = asked || printed(scalar.best_column) || printed(scalar.step_column) || printed("scalars");
      const bool last_ranks =
          std::ranges::find(output_.sort, scalar.last_column, &SortKey::column) != output_.sort.end() ||
          std::ranges::find(output_.where, scalar.last_column, &Comparison::name) != output_.where.end();
      const std::string name = single_quoted(scalar.name);
      if (asked && scalar.guessed) {
        messages.note_once(fmt::format(
            "{0}: the name does not say which value is best: the least value is taken; --max {0} takes the greatest",
            name));
      }
      std::vector<std::string_view> zeros;
      for (const RunFacts& run : runs_) {
        const auto found = run.scalars.find(scalar.name);
        if (found == run.scalars.end()) {
          continue;
        }
        if (found->second.of_one_mode && (shown || printed(scalar.last_column))) {
          messages.note_once("of scalars saved in several modes, the values of EVAL are taken, else those of TRAIN");
        }
        const bool ends_so = last_ranks && found->second.last && found->second.last->number == 0;
        if (found->second.doubted_zero && scalar.least && (shown || ends_so)) {
          zeros.emplace_back(run.run);
        }
      }
      if (!zeros.empty()) {
        messages.warning_once(name + " is exactly 0 in " + text::listed(zeros, 3) +
                              ", which is not taken as the best: the Hugging Face Trainer logs 0 where the loss is "
                              "NaN or infinite (logging_nan_inf_filter); --min takes it");
      }
    }
  }

 private:
  void choose_scalars() {
    struct Known {
      std::size_t runs = 0;  // that have it
      bool is_loss = false;
      bool above_zero = false;  // a value is
    };
    std::map<std::string, Known> counts;
    for (const RunFacts& run : runs_) {
      for (const auto& [name, scalar] : run.scalars) {
        Known& known = counts[name];
        ++known.runs;
        known.is_loss = known.is_loss || scalar.is_loss;
        known.above_zero = known.above_zero || (scalar.greatest && scalar.greatest->number > 0);
      }
    }
    const std::vector<std::string> named = options_.named();
    for (const std::string& name : named) {
      counts.try_emplace(name);  // which no run may have
    }
    std::vector<std::string> names = keys_of(counts);
    std::ranges::stable_sort(names, naturally_before);
    const auto order = [&](const std::string& name) {
      const auto& asked = options_.selection.names;
      const auto place = std::ranges::find(asked, name) - asked.begin();
      return name == options_.best ? -1 : place;
    };
    if (options_.selection.selects_tensors()) {
      std::ranges::stable_sort(names, {}, order);
    } else {
      std::ranges::stable_sort(names, [&](const std::string& a, const std::string& b) {
        return (a == options_.best) != (b == options_.best) ? a == options_.best : counts[a].runs > counts[b].runs;
      });
      std::size_t place = 0;
      std::erase_if(names, [&](const std::string& name) { return ++place > most_scalars && !contains(named, name); });
    }
    std::set<std::string> taken = {"trial", "scalars", "hp", std::string(exit_column.name)};
    for (const RunColumn& one : fixed_) {
      taken.emplace(one.column.name);
    }
    for (const std::string& name : names) {
      const Known& known = counts[name];
      const std::optional<bool> least = options_.least_is_best(name, known.is_loss, known.above_zero);
      scalars_.push_back({.name = name, .least = least.value_or(true), .guessed = !least && known.runs > 0});
      scalars_.back().name_columns(taken);
    }
  }

  void choose_hyperparameters() {
    std::map<std::string, std::vector<const HpValue*>> values;  // empty with --hp none
    for (const RunFacts& run : runs_) {
      for (const auto& [key, value] : run.hyperparameters) {
        values[key].push_back(&value);
      }
    }
    const auto readable = std::ranges::count_if(runs_, &RunFacts::readable);
    for (const auto& [key, found] : values) {
      const auto is_first = [&first = *found.front()](const HpValue* value) { return *value == first; };
      if (options_.hp == HpChoice::all || std::ranges::count_if(found, is_first) < readable) {
        key_columns_.emplace(key, "hp." + key);
      }
    }
  }

  // In a table that is too narrow, columns go from the right: what says which run is best stands before the rest.
  void list_columns() {
    const bool table = options_.output.format == "table";
    if (!table) {
      columns_ = fixed_;
    }
    for (const ShownScalar& scalar : scalars_) {
      const auto add_number = [&](const std::string& name, const std::function<Cell(const ScalarFacts&)>& cell) {
        const bool asked = scalar.name == options_.best;
        columns_.push_back({{.name = name, .align = Align::right, .in_json = false, .asked = asked},
                            [&scalar, cell](const RunFacts& run) {
                              const auto found = run.scalars.find(scalar.name);
                              return found == run.scalars.end() ? Cell() : cell(found->second);
                            }});
      };
      if (!table) {
        add_number(scalar.last_column, [](const ScalarFacts& facts) { return cell_of(facts.last); });
      }
      add_number(scalar.best_column, [&scalar](const ScalarFacts& facts) { return cell_of(facts.best(scalar.least)); });
      add_number(scalar.step_column, [&scalar](const ScalarFacts& facts) { return facts.step_cell(scalar.least); });
      if (table) {
        add_number(scalar.last_column, [](const ScalarFacts& facts) { return cell_of(facts.last); });
      }
    }
    for (const auto& [key, column] : key_columns_) {
      columns_.push_back({{.name = column, .in_json = false}, [&of = key](const RunFacts& run) {
                            const auto found = run.hyperparameters.find(of);
                            return found == run.hyperparameters.end() ? Cell() : found->second.cell();
                          }});
    }
    if (table) {
      columns_.insert(columns_.end(), fixed_.begin(), fixed_.end());
    }
    if (options_.output.json() || !options_.output.names("all")) {  // in text they repeat the columns before
      columns_.push_back(
          {{.name = "scalars", .in_text = false}, [this](const RunFacts&) { return NumeralCell{scalars_json_}; }});
      columns_.push_back(
          {{.name = "hp", .in_text = false}, [this](const RunFacts&) { return NumeralCell{hyperparameters_json_}; }});
    }
    columns_.push_back({exit_column, [](const RunFacts& run) { return Cell(run.exit_code); }});
  }

  [[nodiscard]] std::string scalars_json(const RunFacts& run, const OutputOptions& output) const {
    std::string text;
    const auto add_value = [&](std::string_view key, const Cell& cell) {
      text += key;
      append_json_cell(text, cell, output.precision, output.nonfinite);
    };
    for (const ShownScalar& shown : scalars_) {
      if (const auto found = run.scalars.find(shown.name); found != run.scalars.end()) {
        add_value(text.empty() ? "{" : ",", shown.name);
        add_value(R"(:{"last":)", cell_of(found->second.last));
        add_value(R"(,"best":)", cell_of(found->second.best(shown.least)));
        add_value(R"(,"step":)", found->second.step_cell(shown.least));
        text += '}';
      }
    }
    return text.empty() ? "{}" : text + "}";
  }

  [[nodiscard]] std::string hyperparameters_json(const RunFacts& run, const OutputOptions& output) const {
    std::string text;
    for (const auto& [key, unused] : key_columns_) {
      if (const auto found = run.hyperparameters.find(key); found != run.hyperparameters.end()) {
        text += text.empty() ? "{" : ",";
        append_json_cell(text, key, output.precision, output.nonfinite);
        text += ":" + found->second.json();
      }
    }
    return text.empty() ? "{}" : text + "}";
  }

  const std::vector<RunFacts>& runs_;
  const RunsOptions& options_;
  OutputOptions output_ = options_.output;
  bool may_grow_;
  std::vector<RunColumn> fixed_;
  std::vector<ShownScalar> scalars_;
  std::map<std::string, std::string> key_columns_;  // of hyperparameters, by key
  std::vector<RunColumn> columns_;
  std::string scalars_json_;  // of the run whose row is printed
  std::string hyperparameters_json_;
};

}  // namespace

std::vector<Column> fixed_columns() {
  std::vector<Column> columns = mapped(fixed(0), &RunColumn::column);
  columns.push_back(exit_column);
  return columns;
}

void print_runs(const std::vector<RunFacts>& runs, const RunsOptions& options, bool may_grow, OutputFile& out,
                Diagnostics& messages) {
  RunTable table(runs, options, may_grow);
  table.print(out, messages);
  table.say_doubts(messages);
}

void say_missing(const std::vector<RunFacts>& runs, Diagnostics& messages) {
  // What a run that saved it says, else the first one; null if a run has it.
  const auto lack_of_all = [&](const std::string& what) {
    const Lack* lack = nullptr;
    const bool all = std::ranges::all_of(runs, [&](const RunFacts& run) {
      const auto found = run.lacks.find(what);
      if (found != run.lacks.end() && (lack == nullptr || (found->second.saved && !lack->saved))) {
        lack = &found->second;
      }
      return !run.readable() || found != run.lacks.end();
    });
    return all ? lack : nullptr;
  };
  const auto first = std::ranges::find_if(runs, &RunFacts::readable);
  if (first == runs.end()) {
    return;
  }
  bool told = false;
  for (const auto& [what, unused] : first->lacks) {
    if (const Lack* lack = what.empty() ? nullptr : lack_of_all(what)) {
      messages.fail(lack->why.tag, lack->why.text, ExitStatus::no);
      told = true;
    }
  }
  if (const Lack* lack = lack_of_all(""); lack != nullptr && !told) {
    messages.nothing(lack->why.tag, "nothing is selected: " + lack->why.text);
  }
}

}  // namespace smd::tool::runs
