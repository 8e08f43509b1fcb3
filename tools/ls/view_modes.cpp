// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <optional>

#include "choice.hpp"
#include "common/selection.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

constexpr std::array<Column, 4> mode_columns = {
    {{"mode"}, {"steps", Align::right}, {"first_step", Align::right}, {"last_step", Align::right}}};

class ModesView final : public TrialView {
 public:
  using TrialView::TrialView;

  [[nodiscard]] std::span<const Column> columns() const override { return mode_columns; }

 protected:
  bool show_trial(Trial& trial, RowWriter& rows, Diagnostics& messages) override {
    const std::optional<Choice> choice = choose(trial, options().selection, messages);
    if (!choice) {
      return false;
    }
    struct Count {
      std::size_t steps = 0;
      GlobalStep first;
      GlobalStep last;
    };
    std::map<Mode, Count> modes;  // by number
    for (const StepInfo& info : saved_steps(trial, *choice, options().selection)) {
      Count& count = modes[info.mode];
      count.first = count.steps == 0 ? info.step : count.first;
      count.last = info.step;
      ++count.steps;
    }
    for (const auto& [mode, count] : modes) {
      rows.row({to_string(mode), count.steps, count.first.value, count.last.value});
    }
    return !modes.empty();
  }
};

}  // namespace

std::unique_ptr<View> make_modes_view(const LsOptions& options) { return std::make_unique<ModesView>(options); }

}  // namespace smd::tool::ls
