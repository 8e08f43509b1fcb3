# SPDX-License-Identifier: Apache-2.0
# The Debian packages libsmd0 (with libsmd-s3), libsmd-rules0, libsmd-hook0, libsmd-dev, smd-tools and python3-smd. The preset `package`
# sets what they need.
set(revision 1)
set(package_version "${PROJECT_VERSION}-${revision}")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libsmd)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_VENDOR "libsmd")
set(CPACK_PACKAGE_CONTACT "libsmd maintainers <libsmd@users.noreply.github.com>")
set(CPACK_PACKAGING_INSTALL_PREFIX "${CMAKE_INSTALL_PREFIX}")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL core rules hook development tools)
if(SMD_BUILD_PYTHON)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "${revision}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(summary "libsmd reads, reduces and evaluates what a debugger hook saved of a training job:
tensors, steps, modes, workers, and the values themselves, also while the job
still writes. It needs no Python.
")
file(WRITE "${PROJECT_BINARY_DIR}/packaging/triggers" "activate-noawait ldconfig\n")

# smd_add_library_package(COMPONENT LIBRARY... DESCRIPTION TEXT): the package LIBRARY0 of the first of these libraries.
function(smd_add_library_package component)
  cmake_parse_arguments(arg "" "DESCRIPTION" "LIBRARIES" ${ARGN})
  string(TOUPPER "${component}" upper)
  list(GET arg_LIBRARIES 0 first)
  set(package "${first}${PROJECT_VERSION_MAJOR}")
  set(shlibs "")
  foreach(library IN LISTS arg_LIBRARIES)
    string(APPEND shlibs "${library} ${PROJECT_VERSION_MAJOR} ${package} (>= ${PROJECT_VERSION})\n")
  endforeach()
  set(control "${PROJECT_BINARY_DIR}/packaging/${component}/shlibs")
  file(WRITE "${control}" "${shlibs}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME "${package}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION libs PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SHLIBDEPS ON PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA "${control};${PROJECT_BINARY_DIR}/packaging/triggers" PARENT_SCOPE)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}
${arg_DESCRIPTION}" PARENT_SCOPE)
  if(NOT component STREQUAL "core")
    # Libraries of one build belong together: they share more than the public interface.
    set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "libsmd${PROJECT_VERSION_MAJOR} (= ${package_version})" PARENT_SCOPE)
  endif()
endfunction()
smd_add_library_package(core LIBRARIES libsmd libsmd-s3 DESCRIPTION
"This package contains the shared library that reads and reduces, and the one
that it loads for trials on S3.")
smd_add_library_package(rules LIBRARIES libsmd-rules DESCRIPTION
"This package contains the shared library that evaluates rules of training
health.")
smd_add_library_package(hook LIBRARIES libsmd-hook DESCRIPTION
"This package contains the shared library by which a program that trains saves
its tensors.")
set(all_libraries "libsmd${PROJECT_VERSION_MAJOR} (= ${package_version})"
  "libsmd-rules${PROJECT_VERSION_MAJOR} (= ${package_version})"
  "libsmd-hook${PROJECT_VERSION_MAJOR} (= ${package_version})")
list(JOIN all_libraries ", " all_libraries)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsmd-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${all_libraries}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "libsmd reads, reduces and evaluates what a debugger hook saved of a training job:
tensors, steps, modes, workers, and the values themselves.

This package contains the C++20 headers, and what CMake and pkg-config need.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME smd-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${SMD_LIBRARY_DIR}")
if(CMAKE_CROSSCOMPILING)  # by scripts/arm64.sh
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
  list(APPEND CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${SMD_ARM64_ROOT}/lib/${CMAKE_LIBRARY_ARCHITECTURE}"
    "${SMD_ARM64_ROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
endif()
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${all_libraries}")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "bash-completion, jq, python3-smd")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "Commands for shells and pipes that read what a debugger hook saved of a
training job: smd-ls lists it, smd-tensor prints and exports values,
smd-reduce computes statistics of them, smd-rule evaluates rules, smd-wait
waits for them, smd-diff compares two trials, smd-report writes one page to look
at, smd-runs compares many runs, and smd-save writes trials. They need no Python, and read a trial even while
its job is still writing, from a disk or from S3.

Manual pages, completions for bash, zsh and fish, and a small trial to look at
are included.")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-smd)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
# Extension modules are for one version of Python.
math(EXPR next_python "${Python3_VERSION_MINOR} + 1")
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "${all_libraries}, python3 (>= 3.${Python3_VERSION_MINOR}~), python3 (<< 3.${next_python}), python3-numpy")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "The Python module smd reads what a training job left behind into NumPy arrays:
tensors, whole columns, reductions over the steps; it evaluates rules, follows
running jobs, and has the programming model of the reference, smdebug.

With it, smd-rule evaluates rules that are written in Python.")

# What Debian's policy asks of each package.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" upper)
  set(documents "${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(changelog "${PROJECT_BINARY_DIR}/packaging/${component}/changelog.Debian")
  configure_file("${PROJECT_SOURCE_DIR}/packaging/debian/changelog.in" "${changelog}" @ONLY)
  configure_file("${PROJECT_SOURCE_DIR}/CHANGELOG.md" "${PROJECT_BINARY_DIR}/packaging/${component}/changelog" COPYONLY)
  foreach(file changelog changelog.Debian)
    execute_process(COMMAND gzip -9nf "${PROJECT_BINARY_DIR}/packaging/${component}/${file}" COMMAND_ERROR_IS_FATAL ANY)
    install(FILES "${PROJECT_BINARY_DIR}/packaging/${component}/${file}.gz" DESTINATION "${documents}"
      COMPONENT "${component}")
  endforeach()
  install(FILES "${PROJECT_SOURCE_DIR}/packaging/debian/copyright" DESTINATION "${documents}" COMPONENT "${component}")
endforeach()

include(CPack)
