# SPDX-License-Identifier: Apache-2.0
# Compile options of our own targets, kept off those of others.
add_library(smd_options INTERFACE)
target_compile_options(smd_options INTERFACE -Wall -Wextra -Wpedantic -Wnon-virtual-dtor)
# A switch over an enumeration names each value, with a `default` too: a new one never falls into another's case.
target_compile_options(smd_options INTERFACE -Wswitch-enum)
# In joined sources, a name in one source may shadow local names in another.
if(NOT CMAKE_UNITY_BUILD)
  target_compile_options(smd_options INTERFACE -Wshadow)
else()
  # GCC takes a joined source for a header, and its local types for those of a header.
  target_compile_options(smd_options INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>")
endif()
# GCC 12 reports overlapping copies in std::string's own operator+ (gcc.gnu.org/PR105651).
target_compile_options(smd_options INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>")
if(SMD_WERROR)
  target_compile_options(smd_options INTERFACE -Werror)
endif()
if(SMD_SANITIZE)
  target_compile_options(smd_options INTERFACE -fsanitize=${SMD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(smd_options INTERFACE -fsanitize=${SMD_SANITIZE})
  if(SMD_SANITIZE MATCHES undefined AND NOT SMD_BUILD_FUZZERS)
    # These checks before each access make more code than all others, and a third of the time to compile. A null pointer
    # crashes anyway, and the kernels, which alone read elements where they lie, keep the check of alignment.
    target_compile_options(smd_options INTERFACE -fno-sanitize=null,vptr,alignment)
  endif()
endif()
