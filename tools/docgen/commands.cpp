// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "ls/command.hpp"
#include "reduce/command.hpp"
#include "rule/command.hpp"
#include "save/command.hpp"
#include "tensor/command.hpp"
#include "wait/command.hpp"

namespace smd::docgen {

namespace {

template <class Command>
const tool::CommandDefinition* definition_of() {
  static const Command command;
  return &command.definition();
}

}  // namespace

std::vector<const tool::CommandDefinition*> commands() {
  return {
      definition_of<tool::ls::LsCommand>(),         definition_of<tool::tensor::TensorCommand>(),
      definition_of<tool::reduce::ReduceCommand>(), definition_of<tool::rule::RuleCommand>(),
      definition_of<tool::wait::WaitCommand>(),     definition_of<tool::save::SaveCommand>(),
  };
}

}  // namespace smd::docgen
