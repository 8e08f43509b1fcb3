// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app.hpp"
#include "options.hpp"

namespace smd::tool::save {

/// smd-save: writes tensors into a trial.
class SaveCommand final : public Command {
 public:
  [[nodiscard]] const CommandDefinition& definition() const override;
  void setup(const CommandLine& line) override;
  ExitStatus run(Diagnostics& messages) override;

 private:
  ExitStatus save(Diagnostics& messages);

  SaveOptions options_;
};

}  // namespace smd::tool::save
