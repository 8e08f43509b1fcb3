// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "types/outcome.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace smd::detail::storage {

/// One object of a remote store in the making. It appears whole, by `commit`, or not at all: an upload that goes away
/// before that takes back what was sent.
class Upload {
 public:
  virtual ~Upload() = default;
  /// Bytes that follow those before. What is held in memory of them is bounded: 64 MiB.
  virtual Status write(std::span<const std::byte> bytes) = 0;
  /// Puts the object in its place, and returns when it is there. Nothing can be written after it.
  virtual Status commit() = 0;
};

/// Where a trial is written on a remote store. Names are relative to its root, with `/` between parts; problems name
/// the file as it was asked for. Thread-safe, each upload for one thread at a time.
class RemoteWriter {
 public:
  virtual ~RemoteWriter() = default;
  /// Takes the place of what has that name once it is committed. Nothing is sent yet.
  virtual std::unique_ptr<Upload> upload(const std::string& name) = 0;
  /// Whether there is an object of that name. Cheap for names that go up, as those of a job's steps do: one listing
  /// answers for all that follow, so what others put there meanwhile may be missed.
  virtual Outcome<bool> exists(const std::string& name) = 0;
  /// What is there, to be read.
  virtual std::unique_ptr<Storage> reader() = 0;
  /// The URL. With `/` and a name behind it, it is that of the object.
  [[nodiscard]] virtual const std::string& root() const noexcept = 0;
};

}  // namespace smd::detail::storage
