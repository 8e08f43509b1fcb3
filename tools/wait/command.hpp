// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app.hpp"
#include "options.hpp"
#include "rows/row_writer.hpp"

namespace smd::tool::wait {

/// smd-wait: waits for data.
class WaitCommand final : public Command {
 public:
  [[nodiscard]] const CommandDefinition& definition() const override;
  void setup(const CommandLine& line) override;
  ExitStatus run(Diagnostics& messages) override;

 private:
  WaitCommandOptions options_;
};

}  // namespace smd::tool::wait
