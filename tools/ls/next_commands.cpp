// SPDX-License-Identifier: Apache-2.0
#include "next_commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace smd::tool::ls {
namespace {

struct Next {
  std::string command;
  std::string_view purpose;
};

std::string lines_of(std::string heading, std::span<const Next> commands) {
  constexpr std::size_t shown = 3;
  for (const Next& next : commands.first(std::min(shown, commands.size()))) {
    heading += fmt::format("  {:<38} {}\n", next.command, next.purpose);
  }
  return heading;
}

}  // namespace

std::string next_commands(const Trial& trial) {
  const auto losses = trial.collection("losses");
  const bool has_losses = losses && !trial.tensor_names(*losses).empty();
  const bool has_layers = trial.layout().name == "checkpoints";
  std::vector<Next> commands;
  if (has_losses) {
    commands.push_back({"smd-tensor -c losses -s all --spark", "the losses as curves"});
  }
  if (has_layers) {
    commands.push_back({"smd-ls --tree --depth 2", "the layers, with parameters and bytes"});
    commands.push_back({"smd-ls --check", "is it whole?"});
  }
  if (!has_losses) {
    commands.push_back({"smd-reduce -s last -r nan,inf,l2", "NaN, infinities and size of each tensor"});
  }
  commands.push_back({"smd-report -o report.html", "one page to look at"});
  commands.push_back({"smd-rule . -r Overfit,ExplodingTensor", "is training healthy?"});
  const std::size_t tensors = trial.tensor_names().size();
  const std::size_t steps = trial.steps(true).size();
  return lines_of(fmt::format("\nThis is a trial ({}): {} tensor{}, {} step{}. Try\n", trial.layout().name, tensors,
                              tensors == 1 ? "" : "s", steps, steps == 1 ? "" : "s"),
                  commands);
}

std::string next_commands_for_runs() {
  const std::array<Next, 3> commands = {{{"smd-runs", "all of them, a row each"},
                                         {"smd-ls --find", "their paths"},
                                         {"smd-ls --find | smd-rule - -r Overfit", "do any of them overfit?"}}};
  return lines_of("\nTry\n", commands);
}

}  // namespace smd::tool::ls
