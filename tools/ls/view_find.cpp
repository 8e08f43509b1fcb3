// SPDX-License-Identifier: Apache-2.0
#include "plain_operand.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

/// Its one column is the trial's, which every view has.
class FindView final : public View {
 public:
  using View::View;

  [[nodiscard]] std::span<const Column> columns() const override { return {}; }

  [[nodiscard]] OutputOptions output() const override {
    OutputOptions changed = options().output;
    changed.with_trial = true;
    return changed;
  }

  bool show(const std::string& operand, RowWriter& rows, Diagnostics& messages) override {
    bool found = false;
    with_plain_operand(operand, messages, [&] {
      std::vector<Problem> problems;
      TrialOptions reading = options().reading.trial_options();
      say_remote(reading, messages);
      for (const std::string& path : find_trials(operand, &problems, reading)) {
        rows.set_trial(path);
        rows.row({});
        found = true;
      }
      for (const Problem& problem : problems) {
        messages.report(problem, operand);
      }
    });
    return found;
  }
};

}  // namespace

std::unique_ptr<View> make_find_view(const LsOptions& options) { return std::make_unique<FindView>(options); }

}  // namespace smd::tool::ls
