# SPDX-License-Identifier: Apache-2.0
# Installs manual pages and completions where man and the shells search for them. They are installed as committed.
set(SMD_BASH_COMPLETION_DIR "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" CACHE STRING "For bash")
set(SMD_ZSH_COMPLETION_DIR "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING "For zsh")
set(SMD_FISH_COMPLETION_DIR "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" CACHE STRING "For fish")
set(SMD_FISH_FUNCTION_DIR "${CMAKE_INSTALL_DATADIR}/fish/vendor_functions.d" CACHE STRING "Functions for fish")
option(SMD_COMPRESS_MAN "Install compressed manual pages, as distributions want them" OFF)

# smd_install_with_commands(...): as install(), beside the commands and beside the static program.
function(smd_install_with_commands)
  install(${ARGN} COMPONENT tools)
  install(${ARGN} COMPONENT static EXCLUDE_FROM_ALL)
endfunction()

file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/man")
file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/man/*.[1-8]")
foreach(page IN LISTS pages)
  get_filename_component(name "${page}" NAME)
  string(REGEX REPLACE ".*\\." "" section "${name}")
  if(SMD_COMPRESS_MAN)
    # -n: no time in the file, so that two builds are equal.
    execute_process(COMMAND gzip -9nc "${page}" OUTPUT_FILE "${PROJECT_BINARY_DIR}/man/${name}.gz"
      COMMAND_ERROR_IS_FATAL ANY)
    set(page "${PROJECT_BINARY_DIR}/man/${name}.gz")
  endif()
  smd_install_with_commands(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
endforeach()

smd_install_with_commands(FILES "${PROJECT_SOURCE_DIR}/completions/zsh/_smd" DESTINATION "${SMD_ZSH_COMPLETION_DIR}")
smd_install_with_commands(FILES "${PROJECT_SOURCE_DIR}/completions/fish/__smd_values.fish" DESTINATION "${SMD_FISH_FUNCTION_DIR}")
foreach(command IN LISTS SMD_COMMANDS)
  # bash loads a file with the command's name; all of them load the same one.
  smd_install_with_commands(FILES "${PROJECT_SOURCE_DIR}/completions/bash/smd" DESTINATION "${SMD_BASH_COMPLETION_DIR}"
    RENAME smd-${command})
  smd_install_with_commands(FILES "${PROJECT_SOURCE_DIR}/completions/fish/smd-${command}.fish" DESTINATION "${SMD_FISH_COMPLETION_DIR}")
endforeach()

smd_install_with_commands(DIRECTORY "${PROJECT_SOURCE_DIR}/schema" DESTINATION "${CMAKE_INSTALL_DATADIR}/smd")

# Trials, log directories and checkpoints for trying the commands: those of README and cookbook, whose tests run in a folder
# of these alone.
set(SMD_EXAMPLES good-pytorch-digits good-pytorch-exploding good-pytorch-two-workers good-running bad-flipped-bit
  tb-logs/keras_overfit tb-logs/sick tb-logs/sweep checkpoints/rule_blowup checkpoints/shard_missing
  metric-logs/csv_overfit metric-logs/wb_new metric-logs/wb_sick
  pytorch/malicious pytorch/state_dict pytorch/yolo_like)
foreach(example IN LISTS SMD_EXAMPLES)
  get_filename_component(folder "${example}" DIRECTORY)
  smd_install_with_commands(DIRECTORY "${PROJECT_SOURCE_DIR}/tests/fixtures/${example}"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/smd-tools/examples/${folder}")
endforeach()
