// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

namespace smd {

/// What happens to a temporary file of a `Hook`. Paths are absolute, or relative to the directory in which the process
/// runs, as `HookConfig::out_dir` is.
struct TemporaryFileObserver {
  /// Called before the file is made. May be null.
  void (*making)(const char* path) noexcept = nullptr;
  /// Called when the file has its final name, is removed, or could not be made. May be null.
  void (*gone)(const char* path) noexcept = nullptr;
};

/// For a program that a signal ends at once: so that it can remove the temporary files that are still there. The
/// functions are called by threads that save, several at once; the default does nothing. Set it before a hook is made.
/// Not thread-safe.
SMD_EXPORT void observe_temporary_files(TemporaryFileObserver observer) noexcept;

}  // namespace smd
