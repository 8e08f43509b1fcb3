// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Marks what `libsmd.so` exports. Everything else in the library is hidden.
#define SMD_EXPORT __attribute__((visibility("default")))
