// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plain_operand.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

/// Its only column is `trial`, which every view has.
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
      report(problems, operand, messages);
      if (!found) {
        messages.note(operand + ": there is no trial at or below it");
      }
    });
    return found;
  }

 private:
  /// Three of each kind, then how many more: a tree may hold any number of folders that cannot be entered.
  static void report(const std::vector<Problem>& problems, const std::string& operand, Diagnostics& messages) {
    constexpr std::size_t shown = 3;
    std::map<std::pair<ProblemKind, std::string>, std::size_t> counts;
    for (const Problem& problem : problems) {
      if (++counts[{problem.kind, problem.text}] <= shown) {
        messages.report(problem, {});
      }
    }
    for (const auto& [key, count] : counts) {
      if (count > shown) {
        messages.report({key.first, operand, {}, std::to_string(count - shown) + " more below it: " + key.second}, {});
      }
    }
  }
};

}  // namespace

std::unique_ptr<View> make_find_view(const LsOptions& options) { return std::make_unique<FindView>(options); }

}  // namespace smd::tool::ls
