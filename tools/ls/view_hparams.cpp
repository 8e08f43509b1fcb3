// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "rows/hyperparameter.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

constexpr std::array<Column, 2> hparam_columns = {{{"key"}, {"value"}}};

class HparamsView final : public OneTrialView {
 public:
  using OneTrialView::OneTrialView;

  [[nodiscard]] std::span<const Column> columns() const override { return hparam_columns; }

 protected:
  [[nodiscard]] StepRange range() const override { return {}; }

  bool show_trial(Trial& trial, RowWriter& rows, Diagnostics& messages) override {
    const Hyperparameters all = trial.hyperparameters();
    for (const auto& [key, json] : all.values) {
      const HpValue value(json);
      const Cell shown = options().output.json() ? Cell(NumeralCell{value.json()}) : value.cell();
      rows.row({key, shown});
    }
    if (all.values.empty()) {
      messages.nothing("TensorUnavailable", "no hyperparameters were saved");
    }
    return !all.values.empty();
  }
};

}  // namespace

std::unique_ptr<View> make_hparams_view(const LsOptions& options) { return std::make_unique<HparamsView>(options); }

}  // namespace smd::tool::ls
