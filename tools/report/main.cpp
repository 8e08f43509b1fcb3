// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

int main(int argc, char** argv) {
  smd::tool::report::ReportCommand command;
  return smd::tool::run_command(command, argc, argv);
}
