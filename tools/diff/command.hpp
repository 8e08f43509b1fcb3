// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app.hpp"
#include "options.hpp"

namespace smd::tool::diff {

/// smd-diff: what differs between two trials, or two steps of one.
class DiffCommand final : public Command {
 public:
  [[nodiscard]] const CommandDefinition& definition() const override;
  void setup(const CommandLine& line) override;
  ExitStatus run(Diagnostics& messages) override;

 private:
  DiffCommandOptions options_;
};

}  // namespace smd::tool::diff
