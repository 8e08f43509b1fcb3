// SPDX-License-Identifier: Apache-2.0
// --pivot: a row for each step, a column for each tensor. Held until the end, when all names are known.
#include "cli/exit_status.hpp"
#include "cli/text.hpp"
#include "columns.hpp"
#include "result_view.hpp"
#include "rows/row_writer.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace smd::tool::reduce {

namespace {

class PivotView : public ResultView {
 public:
  explicit PivotView(const ResultContext& context)
      : context_(context), by_{.tensor = false, .worker = context.by.worker && context.options.selection.all_workers} {
    if (context.wanted.size() != 1) {
      throw UsageError("--pivot shows one reduction, and there are " + std::to_string(context.wanted.size()) +
                       ": choose one with -r");
    }
  }

  void set_trial(std::string_view name) override { trials_.emplace_back(name); }

  void row(const ResultRow& row) override {
    tensors_.emplace(row.tensor);
    Line& line = lines_[{trials_.size(), row.step.value, by_.worker ? std::string(row.worker) : std::string()}];
    const std::uint64_t trials = std::max(line.facts.trials, row.trials);
    line.facts = {.step = row.step, .mode = row.mode, .mode_step = row.mode_step, .trials = trials};
    line.statistics.insert_or_assign(std::string(row.tensor), row.statistics.front());
  }

  void finish() override {
    std::vector<Column> columns = group_columns(by_);
    leave_out(columns);
    if (context_.options.across) {
      columns.insert(columns.begin(), Column{.name = "trials", .align = Align::right, .for_trial = true});
    }
    for (const std::string& name : tensors_) {
      Column& column = columns.emplace_back(Column{name, Align::right});
      const std::vector<std::string>& named = context_.options.selection.names;
      column.asked = std::find(named.begin(), named.end(), name) != named.end();
    }
    columns.push_back(written_column);
    RowWriter rows(context_.out, context_.options.output, columns, context_.several_trials, context_.messages);
    std::vector<Cell> cells;
    for (auto& [key, line] : lines_) {
      const auto& [trial, step, worker] = key;
      line.facts.worker = worker;
      rows.set_trial(trials_[trial - 1]);
      cells.clear();
      if (context_.options.across) {
        cells.emplace_back(line.facts.trials);
      }
      add_group_cells(cells, line.facts, by_);
      for (const std::string& name : tensors_) {
        const auto found = line.statistics.find(name);
        cells.push_back(found == line.statistics.end() ? Cell() : found->second.cell());
      }
      cells.emplace_back(PlaceCell{step, 0});
      rows.row(cells);
    }
    rows.finish();
  }

 private:
  struct Line {
    RowFacts facts;
    std::map<std::string, Statistic, std::less<>> statistics;
  };

  // Two columns of one name would hide the step. JSON always has the trial's column.
  void leave_out(const std::vector<Column>& columns) {
    std::vector<std::string> left_out;
    std::erase_if(tensors_, [&](const std::string& tensor) {
      const bool taken =
          tensor == "trial" || tensor == written_column.name ||
          std::any_of(columns.begin(), columns.end(), [&](const Column& one) { return one.name == tensor; });
      if (taken) {
        left_out.push_back(tensor);
      }
      return taken;
    });
    if (!left_out.empty()) {
      context_.messages.warning("--pivot: columns have that name already, left out: " + quoted_list(left_out) +
                                "; -n " + left_out.front() + " without --pivot shows it");
    }
  }

  ResultContext context_;
  By by_;
  std::vector<std::string> trials_;
  std::set<std::string, std::less<>> tensors_;
  std::map<std::tuple<std::size_t, std::int64_t, std::string>, Line> lines_;
};

}  // namespace

std::unique_ptr<ResultView> make_pivot_view(const ResultContext& context) {
  return std::make_unique<PivotView>(context);
}

}  // namespace smd::tool::reduce
