// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app.hpp"
#include "options.hpp"

namespace smd::tool::rule {

/// smd-rule: is training healthy?
class RuleCommand final : public Command {
 public:
  [[nodiscard]] const CommandDefinition& definition() const override;
  void setup(const CommandLine& line) override;
  ExitStatus run(Diagnostics& messages) override;

 private:
  RuleCommandOptions options_;
};

}  // namespace smd::tool::rule
