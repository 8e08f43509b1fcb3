# SPDX-License-Identifier: Apache-2.0
# The only list of commands. `smd-NAME` is built from tools/NAME; the order is that of the manual.
set(SMD_COMMANDS ls tensor reduce rule wait diff report runs save)

# For C++ code about all of them: SMD_COMMANDS(X) expands X(TYPE) for the type of each command.
function(smd_write_command_list file)
  set(includes "")
  set(types "")
  foreach(name IN LISTS SMD_COMMANDS)
    string(SUBSTRING "${name}" 0 1 initial)
    string(TOUPPER "${initial}" initial)
    string(SUBSTRING "${name}" 1 -1 rest)
    string(APPEND includes "#include \"${name}/command.hpp\"\n")
    string(APPEND types " \\\n  X(smd::tool::${name}::${initial}${rest}Command)")
  endforeach()
  file(CONFIGURE OUTPUT "${file}" @ONLY CONTENT
"// Made from the list in cmake/SmdCommands.cmake.
#pragma once

@includes@
#define SMD_COMMANDS(X)@types@
")
endfunction()
