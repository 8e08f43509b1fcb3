// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

int main(int argc, char** argv) {
  smd::tool::runs::RunsCommand command;
  return smd::tool::run_command(command, argc, argv);
}
