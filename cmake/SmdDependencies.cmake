# SPDX-License-Identifier: Apache-2.0
# What the project stands on. All are Debian 12 packages; README names them.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(simdjson REQUIRED)
find_package(Boost REQUIRED COMPONENTS filesystem)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)
# Headers only: the choice of an instruction set is made in libsmd, so that no further library is loaded at start.
find_path(HWY_INCLUDE_DIR hwy/highway.h REQUIRED)
if(SMD_BUILD_TOOLS)
  find_package(CLI11 REQUIRED)
endif()
if(SMD_BUILD_TESTS)
  find_package(doctest REQUIRED)
  # The system's Python is the one that sees Debian's python3-numpy; another may come first in PATH.
  if(NOT Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(Python3_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "Python of the tests")
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
