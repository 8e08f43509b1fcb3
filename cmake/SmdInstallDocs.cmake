# SPDX-License-Identifier: Apache-2.0
# Installs manual pages and completions where man and the shells search for them. They are installed as committed.
set(SMD_BASH_COMPLETION_DIR "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" CACHE STRING "For bash")
set(SMD_ZSH_COMPLETION_DIR "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" CACHE STRING "For zsh")
set(SMD_FISH_COMPLETION_DIR "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" CACHE STRING "For fish")
set(SMD_FISH_FUNCTION_DIR "${CMAKE_INSTALL_DATADIR}/fish/vendor_functions.d" CACHE STRING "Functions for fish")
option(SMD_COMPRESS_MAN "Install compressed manual pages, as distributions want them" OFF)

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
  install(FILES "${page}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}" COMPONENT tools)
endforeach()

install(FILES "${PROJECT_SOURCE_DIR}/completions/zsh/_smd" DESTINATION "${SMD_ZSH_COMPLETION_DIR}" COMPONENT tools)
install(FILES "${PROJECT_SOURCE_DIR}/completions/fish/__smd_values.fish" DESTINATION "${SMD_FISH_FUNCTION_DIR}"
  COMPONENT tools)
foreach(command IN LISTS SMD_COMMANDS)
  # bash loads a file with the command's name; all of them load the same one.
  install(FILES "${PROJECT_SOURCE_DIR}/completions/bash/smd" DESTINATION "${SMD_BASH_COMPLETION_DIR}"
    RENAME smd-${command} COMPONENT tools)
  install(FILES "${PROJECT_SOURCE_DIR}/completions/fish/smd-${command}.fish" DESTINATION "${SMD_FISH_COMPLETION_DIR}"
    COMPONENT tools)
endforeach()

# Trials and log directories for trying the commands: those of the README.
install(DIRECTORY
  "${PROJECT_SOURCE_DIR}/tests/fixtures/good-pytorch-digits"
  "${PROJECT_SOURCE_DIR}/tests/fixtures/good-pytorch-exploding"
  "${PROJECT_SOURCE_DIR}/tests/fixtures/good-pytorch-two-workers"
  "${PROJECT_SOURCE_DIR}/tests/fixtures/good-running"
  "${PROJECT_SOURCE_DIR}/tests/fixtures/bad-flipped-bit"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/smd-tools/examples" COMPONENT tools)
install(DIRECTORY
  "${PROJECT_SOURCE_DIR}/tests/fixtures/tb-logs/sick"
  "${PROJECT_SOURCE_DIR}/tests/fixtures/tb-logs/sweep"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/smd-tools/examples/tb-logs" COMPONENT tools)
install(DIRECTORY
  "${PROJECT_SOURCE_DIR}/tests/fixtures/checkpoints/rule_blowup"
  "${PROJECT_SOURCE_DIR}/tests/fixtures/checkpoints/shard_missing"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/smd-tools/examples/checkpoints" COMPONENT tools)
