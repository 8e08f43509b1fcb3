// SPDX-License-Identifier: Apache-2.0
#include "rows/hyperparameter.hpp"
#include "view.hpp"

namespace smd::tool::ls {

namespace {

std::vector<Column> hparam_columns(const LsOptions&) { return {{"key"}, {"value"}}; }

bool show_hparams(Trial& trial, Showing& to) {
  const Hyperparameters all = trial.hyperparameters();
  for (const auto& [key, json] : all.values) {
    const HpValue value(json);
    to.rows.row({key, to.options.output.json() ? Cell(NumeralCell{value.json()}) : value.cell()});
  }
  if (all.values.empty()) {
    to.messages.nothing("TensorUnavailable", "no hyperparameters were saved");
  }
  return !all.values.empty();
}

}  // namespace

constinit const ViewSpec hparams_view = {.option = "hparams",
                                         .selects = false,
                                         .columns = hparam_columns,
                                         .range = [](const LsOptions&) { return StepRange(); },
                                         .show = show_hparams};

}  // namespace smd::tool::ls
