// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "output.hpp"
#include "text/descriptor.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace smd::detail::hook {

/// The lock of a local trial, by flock(2): on the folder itself, which leaves no file behind, or on a file in it if the
/// file system locks only files. The system releases it when the process dies.
class LocalLock {
 public:
  /// Finds out what can be locked. `root` is open for reading and outlives this; `path` is for messages.
  LocalLock(int root, std::string path, LockPlace best);

  /// Waits until `timeout` has passed or `stop`, which may be empty, returns true.
  Outcome<OutputLock> take(std::chrono::nanoseconds timeout, const std::function<bool()>& stop);
  /// Returns why the lock cannot be taken; empty if it can.
  [[nodiscard]] const std::string& why_not() const noexcept { return why_not_; }

 private:
  [[nodiscard]] int descriptor() const noexcept { return file_ ? file_.get() : root_; }

  int root_;
  std::string path_;
  Descriptor file_;  // empty: the folder is locked
  std::string why_not_;
};

}  // namespace smd::detail::hook
