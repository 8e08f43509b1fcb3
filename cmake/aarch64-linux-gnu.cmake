# SPDX-License-Identifier: Apache-2.0
# Cross-compiles for 64-bit Arm with Debian's g++-aarch64-linux-gnu, and runs what was built under qemu-user.
# SMD_ARM64_ROOT: a folder with the unpacked arm64 packages of the dependencies; scripts/arm64.sh makes it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES SMD_ARM64_ROOT)
if(NOT IS_DIRECTORY "${SMD_ARM64_ROOT}")
  message(FATAL_ERROR "SMD_ARM64_ROOT is '${SMD_ARM64_ROOT}', and must be the folder that scripts/arm64.sh makes")
endif()

set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_SYSROOT "${SMD_ARM64_ROOT}")

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${SMD_ARM64_ROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
    "${SMD_ARM64_ROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${SMD_ARM64_ROOT}/usr/share/pkgconfig")

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L "${SMD_ARM64_ROOT}")
