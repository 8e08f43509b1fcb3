// SPDX-License-Identifier: Apache-2.0
// --pivot: a row for each step, a column for each tensor. Held until the end, when all names are known.
#include "cli/exit_status.hpp"
#include "cli/text.hpp"
#include "columns.hpp"
#include "result_view.hpp"
#include "rows/row_writer.hpp"
#include "select/selection.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace smd::tool::reduce {

namespace {

class PivotView : public ResultView {
 public:
  explicit PivotView(const ResultContext& context)
      : context_(context), workers_(context.by.worker && context.options.selection.all_workers) {
    if (context.wanted.size() != 1) {
      throw UsageError("--pivot shows one reduction, and there are " + std::to_string(context.wanted.size()) +
                       ": choose one with -r");
    }
  }

  void set_trial(std::string_view name) override { trials_.emplace_back(name); }

  void row(const ResultRow& row) override {
    tensors_.emplace(row.tensor, 0);
    Line& line = lines_[{trials_.size(), row.step.value, workers_ ? std::string(row.worker) : std::string()}];
    line.trials = std::max(line.trials, row.trials);
    line.mode = row.mode;
    line.mode_step = row.mode_step;
    line.statistics.insert_or_assign(std::string(row.tensor), row.statistics.front());
  }

  void finish() override {
    std::vector<Column> columns = group_columns({.tensor = false, .step = true, .worker = workers_});
    leave_out(columns);
    if (context_.options.across) {
      columns.insert(columns.begin(), Column{.name = "trials", .align = Align::right, .for_trial = true});
    }
    for (const auto& [name, unused] : tensors_) {
      Column& column = columns.emplace_back(Column{name, Align::right});
      const std::vector<std::string>& named = context_.options.selection.names;
      column.asked = std::find(named.begin(), named.end(), name) != named.end();
    }
    columns.push_back(written_column);
    RowWriter rows(context_.out, context_.options.output, columns, context_.several_trials, context_.messages);
    std::vector<Cell> cells;
    for (const auto& [key, line] : lines_) {
      const auto& [trial, step, worker] = key;
      rows.set_trial(trials_[trial - 1]);
      cells.clear();
      if (context_.options.across) {
        cells.emplace_back(line.trials);
      }
      cells.insert(cells.end(), {Cell(step), Cell(to_string(line.mode)), Cell(line.mode_step.value)});
      if (workers_) {
        cells.emplace_back(worker);
      }
      for (const auto& [name, unused] : tensors_) {
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
    std::uint64_t trials = 1;
    Mode mode = Mode::global;
    ModeStep mode_step;
    std::map<std::string, Statistic, std::less<>> statistics;
  };

  // Two columns of one name would hide the step. JSON always has the trial's column.
  void leave_out(const std::vector<Column>& columns) {
    std::vector<std::string> left_out;
    std::erase_if(tensors_, [&](const auto& tensor) {
      const bool taken =
          tensor.first == "trial" || tensor.first == written_column.name ||
          std::any_of(columns.begin(), columns.end(), [&](const Column& one) { return one.name == tensor.first; });
      if (taken) {
        left_out.push_back(tensor.first);
      }
      return taken;
    });
    if (!left_out.empty()) {
      context_.messages.warning("--pivot: columns have that name already, left out: " + quoted_list(left_out) +
                                "; -n " + left_out.front() + " without --pivot shows it");
    }
  }

  ResultContext context_;
  bool workers_;
  std::vector<std::string> trials_;
  std::map<std::string, int, std::less<>> tensors_;
  std::map<std::tuple<std::size_t, std::int64_t, std::string>, Line> lines_;
};

}  // namespace

std::unique_ptr<ResultView> make_pivot_view(const ResultContext& context) {
  return std::make_unique<PivotView>(context);
}

}  // namespace smd::tool::reduce
