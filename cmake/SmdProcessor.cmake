# SPDX-License-Identifier: Apache-2.0
# Refuses processors on which the library would be wrong, rather than build it.
if(CMAKE_SIZEOF_VOID_P LESS 8)
  message(FATAL_ERROR "libsmd needs a 64-bit processor: files and tensors are larger than 32-bit addresses reach.")
endif()
if(CMAKE_CXX_BYTE_ORDER STREQUAL "BIG_ENDIAN")
  message(FATAL_ERROR "libsmd needs a little-endian processor: elements are used as they stand in files.")
endif()
