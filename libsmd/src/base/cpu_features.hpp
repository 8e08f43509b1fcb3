// SPDX-License-Identifier: Apache-2.0
#pragma once

// SMD_CPU_HAS(NAME, "name"): whether an x86 CPU has a feature and the system lets programs use it; takes glibc's name
// and the compiler's. glibc knows before main. The compiler's own check costs every start about twenty CPUID
// instructions, whether used or not, and each of them exits a virtual machine; it is used where glibc's is
// unavailable.
#if defined(__x86_64__)

#if !defined(__clang__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define SMD_CPU_HAS(glibc_name, compiler_name) CPU_FEATURE_ACTIVE(glibc_name)
#else
#define SMD_CPU_HAS(glibc_name, compiler_name) (__builtin_cpu_supports(compiler_name) != 0)
#endif

#endif
