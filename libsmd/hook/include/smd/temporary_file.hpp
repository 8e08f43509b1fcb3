// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>

namespace smd {

/// Functions that a `Hook` calls about its temporary files. Paths are absolute, or relative to the working directory,
/// as `HookConfig::out_dir` is.
struct TemporaryFileObserver {
  /// Called before the file is made. May be null.
  void (*making)(const char* path) noexcept = nullptr;
  /// Called when the file has its final name, is removed, or could not be made. May be null.
  void (*gone)(const char* path) noexcept = nullptr;
};

/// Lets a program that is ended by a signal remove the temporary files that still exist. Threads that save call the
/// functions, possibly several at the same time; the default does nothing. Call this before a hook is made. Not
/// thread-safe.
SMD_EXPORT void observe_temporary_files(TemporaryFileObserver observer) noexcept;

}  // namespace smd
