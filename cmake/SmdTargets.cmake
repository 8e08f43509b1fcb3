# SPDX-License-Identifier: Apache-2.0

# smd_add_tool(NAME): adds an executable `NAME` from the current folder, and an object library `NAME_objects`, which
# unit tests link too.
function(smd_add_tool name)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(${name}_objects OBJECT ${sources})
  target_link_libraries(${name}_objects PUBLIC smd_tool_parts PRIVATE smd_options)
  add_executable(${name} "${PROJECT_SOURCE_DIR}/tools/main.cpp")
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  smd_write_command_list("${CMAKE_CURRENT_BINARY_DIR}/smd_commands.hpp" ${folder})
  target_include_directories(${name} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
  target_link_libraries(${name} PRIVATE ${name}_objects smd_options)
  # All commands are in bin/ of the build tree; installed, they find the library relative to their own path in any
  # prefix.
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin"
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}" BUILD_WITH_INSTALL_RPATH ${SMD_FINAL_RPATH})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endfunction()

# smd_add_unit_test(NAME SOURCES… [APART…] LIBS…): adds one doctest executable and registers it with ctest. Sources
# listed as APART too use names of others, so joined builds compile them alone. The target unit_tests builds all tests;
# with SMD_UNIT_TESTS_BY_REQUEST nothing else does.
option(SMD_UNIT_TESTS_BY_REQUEST "Leave the unit tests to the target unit_tests" OFF)
mark_as_advanced(SMD_UNIT_TESTS_BY_REQUEST)
add_custom_target(unit_tests)
function(smd_add_unit_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;APART;LIBS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_source_files_properties(${arg_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 10 EXCLUDE_FROM_ALL ${SMD_UNIT_TESTS_BY_REQUEST})
  target_link_libraries(${name} PRIVATE smd_options smd_test_main smd_test_support ${arg_LIBS})
  if(SMD_PRECOMPILE_TESTS)
    target_precompile_headers(${name} REUSE_FROM smd_test_headers)
  endif()
  add_dependencies(unit_tests ${name})
  set(arguments)
  if(SMD_SANITIZE STREQUAL "thread")  # which sees one process: tests of several run without it
    set(arguments "--test-case-exclude=killed at*,many processes at once*")
  endif()
  add_test(NAME ${name} COMMAND ${name} ${arguments})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS unit)
  if(name MATCHES "^(unit_storage|unit_s3|unit_hook|unit_cli|unit_layout|unit_reduce|smd_conformity_test)$")
    set_tests_properties(${name} PROPERTIES COST 60)  # the longest begin first, or they would run alone at the end
  endif()
endfunction()
