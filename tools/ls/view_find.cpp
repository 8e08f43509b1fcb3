// SPDX-License-Identifier: Apache-2.0
#include "operands/operands.hpp"
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
    for (const std::string& path : found_trials(operand, options().reading, messages)) {
      rows.set_trial(path);
      rows.row({});
      found = true;
    }
    return found;
  }
};

}  // namespace

std::unique_ptr<View> make_find_view(const LsOptions& options) { return std::make_unique<FindView>(options); }

}  // namespace smd::tool::ls
