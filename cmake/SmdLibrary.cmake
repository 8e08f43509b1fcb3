# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

# All libraries are in one folder, in the build tree as when installed: each loads the others from its own folder.
set(SMD_LIBRARY_DIR "${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}")

# What is installed has the path to its libraries from the start: CMake fills up one of the build tree, which is replaced
# later, with empty entries, and an empty entry is the current folder. Packages, whose files have no path, keep it in their
# build tree.
set(SMD_FINAL_RPATH ON)
if(CMAKE_SKIP_INSTALL_RPATH)
  set(SMD_FINAL_RPATH OFF)
endif()

# smd_add_objects(NAME SOURCES...): part of a library as objects: linked by the library and, hidden parts included, by
# the unit tests.
function(smd_add_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/libsmd" "${PROJECT_SOURCE_DIR}/libsmd/src")
  target_link_libraries(${name} PUBLIC smd_headers smd_text Threads::Threads fmt::fmt-header-only PRIVATE smd_options)
  # No program replaces the library's functions by its own, so calls within the library need no indirection.
  target_compile_options(${name} PRIVATE -fno-semantic-interposition)
endfunction()

# smd_add_archive(NAME OBJECTS SOURCES...): an archive of those SOURCES of OBJECTS, a target of smd_add_objects, of
# which other libraries contain a hidden copy of what they use. They are compiled once, as the target NAME_objects, for
# the archive NAME and for everything that links OBJECTS.
function(smd_add_archive name objects)
  list(TRANSFORM ARGN PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/" OUTPUT_VARIABLE sources)
  get_target_property(others ${objects} SOURCES)
  list(REMOVE_ITEM others ${sources})
  set_target_properties(${objects} PROPERTIES SOURCES "${others}")
  smd_add_objects(${name}_objects ${sources})
  target_sources(${objects} INTERFACE "$<TARGET_OBJECTS:${name}_objects>")
  add_library(${name} STATIC "$<TARGET_OBJECTS:${name}_objects>")
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(${name} PUBLIC smd_headers smd_text fmt::fmt-header-only)
  # The linker drops unused functions one by one, so that sources can be joined.
  target_compile_options(${name}_objects PRIVATE -ffunction-sections -fdata-sections)
  target_link_options(${name} INTERFACE "LINKER:--gc-sections")
endfunction()

# smd_add_library(TARGET OUTPUT_NAME NAME MAP FILE [LOADED] [INCLUDE DIR...] [DESCRIPTION TEXT]
#                 SOURCES ITEM... [NEEDS LIBRARY...] [CONTAINS ARCHIVE...]):
# the shared library NAME. SOURCES are source files and targets of objects. Programs that link it link NEEDS too, and
# include from INCLUDE. Nothing of CONTAINS is exported. For TARGET smd_PART it makes smd::PART, the install component
# PART and the pkg-config module smd-PART. LOADED: a library that no program links, without these.
function(smd_add_library target)
  cmake_parse_arguments(arg "LOADED" "OUTPUT_NAME;MAP;DESCRIPTION;COMPONENT" "SOURCES;NEEDS;CONTAINS;INCLUDE" ${ARGN})
  string(REGEX REPLACE "^smd_" "" part "${target}")
  add_library(${target} SHARED)
  foreach(source IN LISTS arg_SOURCES)
    if(TARGET ${source})
      target_link_libraries(${target} PRIVATE ${source})
    else()
      target_sources(${target} PRIVATE ${source})
    endif()
  endforeach()
  # Needed libraries come before the archives, so that what they export is taken from them.
  target_link_libraries(${target} PUBLIC ${arg_NEEDS} PRIVATE ${arg_CONTAINS} smd_options)
  set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_OUTPUT_NAME} EXPORT_NAME ${part} LINKER_LANGUAGE CXX
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LIBRARY_OUTPUT_DIRECTORY "${SMD_LIBRARY_DIR}" INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ${SMD_FINAL_RPATH}
    LINK_DEPENDS "${arg_MAP}")
  # Only what the public headers mark is exported; instantiations of other libraries' templates are not.
  target_link_options(${target} PRIVATE "LINKER:--version-script=${arg_MAP}" "LINKER:--exclude-libs,ALL")
  if(NOT SMD_SANITIZE)  # Clang's sanitizers are in the program
    target_link_options(${target} PRIVATE "LINKER:-z,defs")
  endif()
  if(arg_LOADED)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${arg_COMPONENT} NAMELINK_SKIP)
    return()
  endif()

  add_library(smd::${part} ALIAS ${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  foreach(dir IN LISTS arg_INCLUDE)
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${dir}>")
    install(DIRECTORY "${dir}/smd" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
      FILES_MATCHING PATTERN "*.hpp")
  endforeach()
  target_include_directories(${target} PUBLIC "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  install(TARGETS ${target} EXPORT smd-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${part} NAMELINK_COMPONENT development)
  list(TRANSFORM arg_NEEDS REPLACE "^smd_" "smd-")
  list(JOIN arg_NEEDS " " needs)
  smd_add_pkg_config(smd-${part} DESCRIPTION "${arg_DESCRIPTION}" LIBS "-l${arg_OUTPUT_NAME}" REQUIRES "${needs}")
endfunction()

# smd_add_pkg_config(NAME DESCRIPTION TEXT LIBS FLAGS [REQUIRES MODULES] [REQUIRES_PRIVATE MODULES]): NAME.pc.
function(smd_add_pkg_config name)
  cmake_parse_arguments(pc "" "DESCRIPTION;LIBS;REQUIRES;REQUIRES_PRIVATE" "" ${ARGN})
  # Relative to the file itself, so that the prefix can be moved; absolute directories (as some distributions set) stay.
  file(RELATIVE_PATH pc_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
  set(pc_libdir "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
  if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
    set(pc_libdir "${CMAKE_INSTALL_LIBDIR}")
  endif()
  if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(pc_includedir "${CMAKE_INSTALL_INCLUDEDIR}")
  endif()
  set(pc_requires "")
  if(pc_REQUIRES)
    string(APPEND pc_requires "Requires: ${pc_REQUIRES}\n")
  endif()
  if(pc_REQUIRES_PRIVATE)
    string(APPEND pc_requires "Requires.private: ${pc_REQUIRES_PRIVATE}\n")
  endif()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/library.pc.in" ${name}.pc @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
    COMPONENT development)
endfunction()
