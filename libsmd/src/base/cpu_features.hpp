// SPDX-License-Identifier: Apache-2.0
#pragma once

// SMD_CPU_HAS(NAME, "name"): whether an x86 CPU has a feature that the system lets programs use; glibc's name and the
// compiler's. glibc knows since before main. The compiler's own answer costs every start some twenty CPUID
// instructions, asked or not, and each of them leaves a virtual machine; it serves where glibc's cannot be had.
#if defined(__x86_64__)

#if !defined(__clang__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define SMD_CPU_HAS(glibc_name, compiler_name) CPU_FEATURE_ACTIVE(glibc_name)
#else
#define SMD_CPU_HAS(glibc_name, compiler_name) (__builtin_cpu_supports(compiler_name) != 0)
#endif

#endif
