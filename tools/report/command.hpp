// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app.hpp"
#include "options.hpp"

namespace smd::tool::report {

/// smd-report: one page to look at.
class ReportCommand final : public Command {
 public:
  [[nodiscard]] const CommandDefinition& definition() const override;
  void setup(const CommandLine& line) override;
  ExitStatus run(Diagnostics& messages) override;

 private:
  ReportCommandOptions options_;
};

}  // namespace smd::tool::report
