# SPDX-License-Identifier: Apache-2.0
# The Debian packages libsmd0, libsmd-dev and smd-tools. The preset `package` sets what they need.
set(soname_package "libsmd${PROJECT_VERSION_MAJOR}")
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
set(CPACK_COMPONENTS_ALL library development tools)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "${revision}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME "${soname_package}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
file(WRITE "${PROJECT_BINARY_DIR}/packaging/library/shlibs"
  "libsmd ${PROJECT_VERSION_MAJOR} ${soname_package} (>= ${PROJECT_VERSION})\n"
  "libsmd-s3 ${PROJECT_VERSION_MAJOR} ${soname_package} (>= ${PROJECT_VERSION})\n")
file(WRITE "${PROJECT_BINARY_DIR}/packaging/library/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA
  "${PROJECT_BINARY_DIR}/packaging/library/shlibs;${PROJECT_BINARY_DIR}/packaging/library/triggers")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "libsmd reads and evaluates what a debugger hook saved of a training job:
tensors, steps, modes, workers, and the values themselves, even while the job
is still writing. It needs no Python.

This package contains the shared library.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsmd-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${soname_package} (= ${package_version})")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "libsmd reads and evaluates what a debugger hook saved of a training job:
tensors, steps, modes, workers, and the values themselves.

This package contains the C++20 headers, and what CMake and pkg-config need.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME smd-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/libsmd")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${soname_package} (= ${package_version})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "bash-completion, jq")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "Commands for shells and pipes that read what a debugger hook saved of a
training job: smd-ls lists it, smd-tensor prints and exports values,
smd-reduce computes statistics of them, smd-rule evaluates rules, smd-wait
waits for them, and smd-save writes them. They need no Python, and read a
trial even while its job is still writing, from a disk or from S3.

Manual pages, completions for bash, zsh and fish, and a small trial to look at
are included.")

# Requirements of Debian's policy for each package.
foreach(component library development tools)
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
