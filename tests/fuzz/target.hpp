// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <cstdlib>

/// Begins the function of a target: the one that libFuzzer calls, or, in fuzz_replay, which holds all targets, one of
/// the target's own name.
#ifdef SMD_FUZZ_REPLAY
#define SMD_FUZZ_ENTRY(name) extern "C" int fuzz_##name
#else
#define SMD_FUZZ_ENTRY(name) extern "C" int LLVMFuzzerTestOneInput
#endif

/// Ends the run with a report if a condition does not hold.
#define SMD_REQUIRE(condition)                                                     \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)
