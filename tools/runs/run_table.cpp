// SPDX-License-Identifier: Apache-2.0
#include "run_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cli/text.hpp"

namespace smd::tool::runs {

namespace {

/// The default number of scalars.
constexpr std::size_t most_scalars = 4;

/// A name that no column has yet: the first of its name, else with a prefix.
std::string free_name(const std::string& name, const std::vector<Column>& fixed) {
  const bool taken = name == "trial" || name.starts_with("hp.") ||
                     std::any_of(fixed.begin(), fixed.end(), [&](const Column& one) { return one.name == name; });
  return taken ? "scalar." + name : name;
}

struct ShownScalar {
  std::string name;
  bool least;
  std::string last_column;
  std::string best_column;
  std::string step_column;
};

class RunTable {
 public:
  RunTable(const std::vector<RunFacts>& runs, const RunsOptions& options)
      : runs_(runs), options_(options), fixed_(fixed_columns(options.planned.has_value())) {
    choose_scalars();
    choose_hyperparameters();
    list_columns();
  }

  void print(OutputFile& out, Diagnostics& messages) {
    OutputOptions output = options_.output;
    output.with_trial = output.columns.empty() || output.with_trial;
    if (options_.best && output.sort.empty() && !scalars_.empty() && scalars_.front().name == *options_.best) {
      output.sort = {{scalars_.front().best_column, !scalars_.front().least}};
    }
    RowWriter rows(out, output, columns_, true, messages);
    for (const RunFacts& run : runs_) {
      rows.set_trial(run.trial);
      std::string objects[2];
      if (output.json()) {
        objects[0] = scalars_json(run, output);
        objects[1] = hyperparameters_json(run, output);
      }
      rows.row_of([&](std::size_t i) { return cell(run, places_[i], objects); });
    }
    rows.finish();
  }

  void say_missing(Diagnostics& messages) const {
    std::vector<std::string> named = options_.selection.names;
    if (options_.best) {
      named.push_back(*options_.best);
    }
    for (const std::string& name : named) {
      const RunFacts* without = nullptr;
      const bool some = std::any_of(runs_.begin(), runs_.end(), [&](const RunFacts& run) {
        without = without == nullptr && run.nearest.contains(name) ? &run : without;
        return run.scalars.contains(name);
      });
      if (!some) {
        messages.fail("TensorUnavailable",
                      without != nullptr
                          ? single_quoted(name) + " was saved by no run" + did_you_mean(without->nearest.at(name))
                          : single_quoted(name) + " is no single number in any run",
                      ExitStatus::no);
      }
    }
  }

 private:
  enum class Kind : std::uint8_t { fixed, last, best, step, hp, scalars, hps };
  struct Place {
    Kind kind;
    std::size_t index = 0;  // among the fixed columns, scalars or keys
  };

  void choose_scalars() {
    std::map<std::string, std::pair<std::size_t, bool>> counts;  // how many runs, and whether it is a loss there
    for (const RunFacts& run : runs_) {
      for (const auto& [name, unused] : run.scalars) {
        ++counts[name].first;
      }
      for (const std::string& name : run.losses) {
        counts[name].second = true;
      }
    }
    std::vector<std::string> names;
    names.reserve(counts.size());
    for (const auto& [name, unused] : counts) {
      names.push_back(name);
    }
    std::stable_sort(names.begin(), names.end(), naturally_before);
    const auto order = [&](const std::string& name) {
      const auto& asked = options_.selection.names;
      const auto place = std::find(asked.begin(), asked.end(), name) - asked.begin();
      return name == options_.best ? -1 : place;
    };
    if (options_.selection.selects_tensors()) {
      std::stable_sort(names.begin(), names.end(),
                       [&](const std::string& a, const std::string& b) { return order(a) < order(b); });
    } else {
      std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
        return (a == options_.best) != (b == options_.best) ? a == options_.best : counts[a].first > counts[b].first;
      });
      names.resize(std::min(names.size(), most_scalars));
    }
    for (const std::string& name : names) {
      const auto has = [&](const std::vector<std::string>& all) {
        return std::find(all.begin(), all.end(), name) != all.end();
      };
      const bool least = has(options_.least) || (!has(options_.greatest) && least_is_best(name, counts[name].second));
      const std::string column = free_name(name, fixed_);
      scalars_.push_back({name, least, column, column + (least ? ":min" : ":max"), column + "@best"});
    }
  }

  void choose_hyperparameters() {
    if (options_.hp == HpChoice::none) {
      return;
    }
    std::set<std::string> keys;
    const RunFacts* first = nullptr;
    for (const RunFacts& run : runs_) {
      first = first == nullptr && run.readable() ? &run : first;
      for (const auto& [key, unused] : run.hyperparameters) {
        keys.insert(key);
      }
    }
    for (const std::string& key : keys) {
      const auto same = [&](const RunFacts& run) {
        const auto value = run.hyperparameters.find(key);
        const auto other = first->hyperparameters.find(key);
        return !run.readable() || (value != run.hyperparameters.end() && other != first->hyperparameters.end() &&
                                   value->second == other->second);
      };
      if (options_.hp == HpChoice::all || !std::all_of(runs_.begin(), runs_.end(), same)) {
        keys_.push_back(key);
        key_columns_.push_back("hp." + key);
      }
    }
  }

  // In a table that is too narrow, columns go from the right: what says which run is best stands before the rest.
  void list_columns() {
    const bool table = options_.output.format == "table";
    const auto add_fixed = [&] {
      for (std::size_t i = 0; i < fixed_.size(); ++i) {
        add(fixed_[i], {Kind::fixed, i});
      }
    };
    if (!table) {
      add_fixed();
    }
    for (std::size_t i = 0; i < scalars_.size(); ++i) {
      const bool asked = scalars_[i].name == options_.best;
      const auto number = [&](const std::string& name) {
        return Column{.name = name, .align = Align::right, .in_json = false, .asked = asked};
      };
      if (table) {
        add(number(scalars_[i].best_column), {Kind::best, i});
        add(number(scalars_[i].step_column), {Kind::step, i});
        add(number(scalars_[i].last_column), {Kind::last, i});
      } else {
        add(number(scalars_[i].last_column), {Kind::last, i});
        add(number(scalars_[i].best_column), {Kind::best, i});
        add(number(scalars_[i].step_column), {Kind::step, i});
      }
    }
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      add({.name = key_columns_[i], .in_json = false}, {Kind::hp, i});
    }
    if (table) {
      add_fixed();
    }
    add({.name = "scalars", .in_text = false}, {Kind::scalars});
    add({.name = "hp", .in_text = false}, {Kind::hps});
  }

  void add(const Column& column, Place place) {
    columns_.push_back(column);
    places_.push_back(place);
  }

  [[nodiscard]] Cell cell(const RunFacts& run, Place place, const std::string (&objects)[2]) const {
    switch (place.kind) {
      case Kind::fixed:
        return fixed_cell(run, fixed_[place.index].name);
      case Kind::last:
      case Kind::best:
      case Kind::step: {
        const auto found = run.scalars.find(scalars_[place.index].name);
        if (found == run.scalars.end()) {
          return {};
        }
        const ScalarFacts& scalar = found->second;
        return place.kind == Kind::last   ? scalar.last.cell()
               : place.kind == Kind::best ? scalar.best_cell()
               : scalar.best              ? Cell(scalar.best_step)
                                          : Cell();
      }
      case Kind::hp: {
        const auto found = run.hyperparameters.find(keys_[place.index]);
        return found == run.hyperparameters.end() ? Cell() : found->second.cell();
      }
      case Kind::scalars:
        return NumeralCell{objects[0]};
      case Kind::hps:
        return NumeralCell{objects[1]};
    }
    return {};
  }

  [[nodiscard]] Cell fixed_cell(const RunFacts& run, std::string_view name) const {
    const auto known = [](const auto& value) { return value ? Cell(*value) : Cell(); };
    if (name == "run") {
      return run.run;
    }
    if (name == "status") {
      return run.status;
    }
    if (!run.readable()) {
      return {};
    }
    if (name == "layout") {
      return run.layout;
    }
    if (name == "age") {
      return known(run.age);
    }
    if (name == "steps") {
      return run.steps;
    }
    if (name == "last_step") {
      return known(run.last_step);
    }
    if (name == "duration") {
      return known(run.duration);
    }
    if (name == "rate") {
      return known(run.rate);
    }
    if (name == "disk") {
      return known(run.disk);
    }
    return eta(run);
  }

  [[nodiscard]] Cell eta(const RunFacts& run) const {
    if (!run.last_step || !options_.planned) {
      return {};
    }
    const auto left = static_cast<double>(*options_.planned - *run.last_step);
    return left <= 0 ? Cell(0.0) : run.rate && *run.rate > 0 ? Cell(left / *run.rate) : Cell();
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
        add_value(R"(:{"last":)", found->second.last.cell());
        add_value(R"(,"best":)", found->second.best_cell());
        add_value(R"(,"step":)", found->second.best ? Cell(found->second.best_step) : Cell());
        text += '}';
      }
    }
    return text.empty() ? "{}" : text + "}";
  }

  [[nodiscard]] std::string hyperparameters_json(const RunFacts& run, const OutputOptions& output) const {
    std::string text;
    for (const std::string& key : keys_) {
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
  std::vector<Column> fixed_;
  std::vector<ShownScalar> scalars_;
  std::vector<std::string> keys_;
  std::vector<std::string> key_columns_;
  std::vector<Column> columns_;
  std::vector<Place> places_;  // of the columns
};

}  // namespace

std::vector<Column> fixed_columns(bool with_eta) {
  std::vector<Column> columns = {{.name = "run", .in_table = false},
                                 {.name = "layout"},
                                 {.name = "status"},
                                 {.name = "age", .align = Align::right},
                                 {.name = "steps", .align = Align::right},
                                 {.name = "last_step", .align = Align::right},
                                 {.name = "duration", .align = Align::right},
                                 {.name = "rate", .align = Align::right},
                                 {.name = "disk", .align = Align::right}};
  if (with_eta) {
    columns.push_back({.name = "eta", .align = Align::right, .asked = true});
  }
  return columns;
}

void print_runs(const std::vector<RunFacts>& runs, const RunsOptions& options, OutputFile& out, Diagnostics& messages) {
  RunTable table(runs, options);
  table.print(out, messages);
  table.say_missing(messages);
}

}  // namespace smd::tool::runs
