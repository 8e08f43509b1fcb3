// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "types/outcome.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace smd::detail::storage {

/// One object that is being written to a remote store. It appears whole, by `commit`, or not at all: destroying an
/// upload before `commit` discards what was sent.
class Upload {
 public:
  virtual ~Upload() = default;
  /// Appends bytes. Holds at most 64 MiB of them in memory.
  virtual Status write(std::span<const std::byte> bytes) = 0;
  /// Makes the object visible, and returns when it is. Nothing can be written afterwards.
  virtual Status commit() = 0;
};

/// Writes a trial to a remote store. Names are relative to the trial's root, with `/` between parts; problems name the
/// file as the caller did. Thread-safe; each upload is for one thread at a time.
class RemoteWriter {
 public:
  virtual ~RemoteWriter() = default;
  /// Begins an upload, which replaces an object of that name when it is committed. Sends nothing yet.
  virtual std::unique_ptr<Upload> upload(const std::string& name) = 0;
  /// Returns whether there is an object of that name. Cheap for ascending names, such as those of a job's steps: one
  /// listing serves all names that follow, so objects that others add meanwhile may be missed.
  virtual Outcome<bool> exists(const std::string& name) = 0;
  /// Returns a storage that reads from the same root.
  virtual std::unique_ptr<Storage> reader() = 0;
  /// Returns the URL of the root; `root() + "/" + name` is that of an object.
  [[nodiscard]] virtual const std::string& root() const noexcept = 0;
};

}  // namespace smd::detail::storage
