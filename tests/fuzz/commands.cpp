// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "ls/command.hpp"
#include "reduce/command.hpp"
#include "rule/command.hpp"
#include "save/command.hpp"
#include "tensor/command.hpp"
#include "wait/command.hpp"

namespace smd::fuzz {

std::unique_ptr<tool::Command> make_command(unsigned number) {
  switch (number % 6) {
    case 0:
      return std::make_unique<tool::ls::LsCommand>();
    case 1:
      return std::make_unique<tool::tensor::TensorCommand>();
    case 2:
      return std::make_unique<tool::reduce::ReduceCommand>();
    case 3:
      return std::make_unique<tool::save::SaveCommand>();
    case 4:
      return std::make_unique<tool::wait::WaitCommand>();
    default:
      return std::make_unique<tool::rule::RuleCommand>();
  }
}

}  // namespace smd::fuzz
