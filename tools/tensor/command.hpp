// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app.hpp"
#include "options.hpp"

namespace smd::tool::tensor {

/// smd-tensor: values.
class TensorCommand final : public Command {
 public:
  [[nodiscard]] const CommandDefinition& definition() const override;
  void setup(const CommandLine& line) override;
  ExitStatus run(Diagnostics& messages) override;

 private:
  TensorOptions options_;
};

}  // namespace smd::tool::tensor
