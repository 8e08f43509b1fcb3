// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <optional>

#include "follow/following.hpp"
#include "operands/operands.hpp"
#include "rows/date.hpp"
#include "select/selection.hpp"
#include "select/trial_times.hpp"
#include "selected.hpp"
#include "text_cells.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

/// When each step was written.
std::vector<std::optional<double>> written_at(const Trial& trial, const std::vector<StepInfo>& infos,
                                              const EntryQuery& query, Diagnostics& messages) {
  std::vector<GlobalStep> steps;
  steps.reserve(infos.size());
  for (const StepInfo& info : infos) {
    steps.push_back(info.step);
  }
  std::vector<std::optional<double>> times;
  for (const std::optional<StepTime>& time : step_times(trial, steps, query, messages)) {
    times.push_back(time ? std::optional(time->earliest) : std::nullopt);
  }
  return times;
}

class StepsView final : public OneTrialView {
 public:
  explicit StepsView(const LsOptions& options)
      : OneTrialView(options),
        columns_{{{"step", Align::right},
                  {"mode"},
                  {"mode_step", Align::right},
                  {"tensors", Align::right},
                  {"workers", Align::left, true, true, false, show_abridged},
                  {"complete"},
                  {"bytes", Align::right},
                  {"wall_time", Align::right, options.details, options.details, false, show_date},
                  written_column}} {}

  [[nodiscard]] std::span<const Column> columns() const override { return columns_; }

  bool follow(const std::vector<std::string>& operands, RowWriter& rows, Diagnostics& messages) override {
    const bool with_times = rows.wants("wall_time");
    const FollowSetup setup{.following = options().following,
                            .selection = options().selection,
                            .reading = options().reading,
                            .needs = {.lists = false},
                            .records = with_times,
                            .listed = lists_operands(options().operands)};
    return follow_trials(operands, setup, messages, [&](std::size_t operand, Trial& trial, Selection&& selection) {
      const std::vector<StepInfo> infos = row_of(trial, selection);
      std::vector<std::optional<double>> times(infos.size());
      if (with_times && !infos.empty()) {
        times = written_at(trial, infos, query_for(selection, options().selection), messages);
      }
      rows.set_trial(operands[operand]);
      print(infos, times, rows);
      rows.end_step();
    });
  }

 protected:
  bool show_trial(Trial& trial, RowWriter& rows, Diagnostics& messages) override {
    const Selection selection = select(trial, options().selection, {.lists = false}, messages);
    if (selection.empty()) {
      return false;
    }
    std::vector<StepInfo> steps = saved_steps(trial, selection, options().selection);
    if (options().output.quiet) {
      return !steps.empty();
    }
    const bool found = !steps.empty();
    steps.resize(std::min(steps.size(), rows.room().value_or(steps.size())));
    std::vector<std::optional<double>> times(steps.size());
    if (rows.wants("wall_time")) {
      times = written_at(trial, steps, query_for(selection, options().selection), messages);
    }
    print(steps, times, rows);
    return found;
  }

 private:
  void print(const std::vector<StepInfo>& steps, const std::vector<std::optional<double>>& times,
             RowWriter& rows) const {
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const StepInfo& info = steps[i];
      rows.row({info.step.value, to_string(info.mode), info.mode_step.value, info.tensors, ListCell{info.workers},
                info.complete, info.bytes, times[i] ? Cell(*times[i]) : Cell(), PlaceCell{info.step.value, 0}});
    }
  }

  /// The row of the one step, if something selected was saved at it.
  [[nodiscard]] std::vector<StepInfo> row_of(const Trial& trial, const Selection& selection) const {
    if (selection.empty()) {
      return {};
    }
    std::vector<StepInfo> rows = {*trial.step_info(selection.steps.steps.front().step)};
    narrow(rows, trial, selection, options().selection);
    return rows;
  }

  std::array<Column, 9> columns_;
};

}  // namespace

std::unique_ptr<View> make_steps_view(const LsOptions& options) { return std::make_unique<StepsView>(options); }

}  // namespace smd::tool::ls
