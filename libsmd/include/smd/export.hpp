// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what `libsmd.so` exports. Everything else in the library is hidden.
#if defined(__GNUC__) || defined(__clang__)
#define SMD_EXPORT __attribute__((visibility("default")))
#else
#define SMD_EXPORT
#endif
