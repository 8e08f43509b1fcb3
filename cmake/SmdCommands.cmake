# SPDX-License-Identifier: Apache-2.0
# The only list of commands. `smd-NAME` is built from tools/NAME; the order is that of the manual.
set(SMD_COMMANDS ls tensor reduce rule wait diff report runs save)

# smd_write_command_list(FILE NAME...): for C++ code about these commands: SMD_COMMANDS(X) expands X("smd-NAME", TYPE) for
# each of them.
function(smd_write_command_list file)
  set(includes "")
  set(types "")
  foreach(name IN LISTS ARGN)
    string(SUBSTRING "${name}" 0 1 initial)
    string(TOUPPER "${initial}" initial)
    string(SUBSTRING "${name}" 1 -1 rest)
    string(APPEND includes "#include \"${name}/command.hpp\"\n")
    string(APPEND types " \\\n  X(\"smd-${name}\", smd::tool::${name}::${initial}${rest}Command)")
  endforeach()
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
"// Made from the list in cmake/SmdCommands.cmake.
#pragma once

@includes@
#define SMD_COMMANDS(X)@types@
")
endfunction()
