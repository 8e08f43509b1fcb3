# SPDX-License-Identifier: Apache-2.0
# Protections of optimised builds against damaged input, because people run them on files from others. Off if a
# sanitizer checks the same and more. -z now is left out: it resolves functions at start that a short-lived command
# never calls.
include(CheckPIESupported)
check_pie_supported()
set(optimised "$<CONFIG:Release,RelWithDebInfo,MinSizeRel>")
if(NOT SMD_SANITIZE)
  target_compile_options(smd_options INTERFACE
    "$<${optimised}:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2;-fstack-protector-strong>")
  target_link_options(smd_options INTERFACE "LINKER:-z,relro")
endif()
target_link_options(smd_options INTERFACE "LINKER:--as-needed" "LINKER:-O1" "LINKER:--hash-style=gnu")
