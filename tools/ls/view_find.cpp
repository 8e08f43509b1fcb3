// SPDX-License-Identifier: Apache-2.0
#include "operands/operands.hpp"
#include "view.hpp"

namespace smd::tool::ls {

namespace {

bool show_found(const std::string& operand, Showing& to) {
  const std::vector<std::string> paths = found_trials(operand, to.options.reading, to.messages);
  for (const std::string& path : paths) {
    to.rows.set_trial(path);
    to.rows.row({});
  }
  return !paths.empty();
}

}  // namespace

/// Its only column is `trial`, which every view has.
constinit const ViewSpec find_view = {.option = "find",
                                      .selects = false,
                                      .columns = [](const LsOptions&) { return std::vector<Column>(); },
                                      .show_operand = show_found};

}  // namespace smd::tool::ls
