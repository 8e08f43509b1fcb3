# SPDX-License-Identifier: Apache-2.0
# The only list of commands. `smd-NAME` is built from tools/NAME; the order is that of the manual.
set(SMD_COMMANDS ls tensor reduce rule wait diff report runs save)

# smd_write_command_list(FILE NAME...): for C++ code about these commands: SMD_COMMANDS(X) expands X("smd-NAME", COMMAND) for
# each of them.
function(smd_write_command_list file)
  set(includes "")
  set(commands "")
  foreach(name IN LISTS ARGN)
    string(APPEND includes "#include \"${name}/options.hpp\"\n")
    string(APPEND commands " \\\n  X(\"smd-${name}\", (smd::tool::Command{smd::tool::${name}::definition, smd::tool::setup<smd::tool::${name}::run>}))")
  endforeach()
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
"// Made from the list in cmake/SmdCommands.cmake.
#pragma once

#include \"app.hpp\"
@includes@
#define SMD_COMMANDS(X)@commands@
")
endfunction()
