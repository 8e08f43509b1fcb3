// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app.hpp"
#include "options.hpp"

namespace smd::tool::runs {

/// smd-runs: many runs, a row each.
class RunsCommand final : public Command {
 public:
  [[nodiscard]] const CommandDefinition& definition() const override;
  void setup(const CommandLine& line) override;
  ExitStatus run(Diagnostics& messages) override;

 private:
  RunsOptions options_;
};

}  // namespace smd::tool::runs
