// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/outcome.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace smd::detail::hook {

/// A folder to write a trial into. Whatever changes something on disk is one call here, so that a test can make any of
/// them fail, or be the process's last. Names are relative to the folder, with `/` between parts. Used by one thread at
/// a time.
class Output {
 public:
  virtual ~Output() = default;
  /// Makes or empties a file, and the folders above it where they are not there.
  virtual Outcome<int> create(const std::string& name) = 0;
  virtual Status write(int file, std::span<const std::byte> bytes, const std::string& name) = 0;
  virtual Status sync(int file, const std::string& name) = 0;
  /// The file is closed even if it reports a problem.
  virtual Status close(int file, const std::string& name) = 0;
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  /// Makes what happened in the folder of a file last.
  virtual Status sync_folder(const std::string& name) = 0;
  virtual void remove(const std::string& name) noexcept = 0;
  [[nodiscard]] virtual bool exists(const std::string& name) noexcept = 0;
  /// For messages.
  [[nodiscard]] virtual const std::string& root() const noexcept = 0;
};

/// A local folder, made if it is not there. Kept open by descriptor.
Outcome<std::unique_ptr<Output>> open_local_output(const std::string& path);

}  // namespace smd::detail::hook
