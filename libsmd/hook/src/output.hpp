// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/remote.hpp>

#include "storage/beneath.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smd::detail::hook {

/// A file that is being written. Readers do not see it before `publish`. Destroyed before that, it leaves nothing.
class PendingFile {
 public:
  PendingFile() = default;
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  virtual ~PendingFile() = default;

  virtual Status write(std::span<const std::byte> bytes) = 0;
  /// Before `close`, if `Output::reads_back`: bytes that were written. @return how many were read; fewer than asked for
  /// at the end.
  virtual Outcome<std::size_t> read_back(std::uint64_t offset, std::span<std::byte> into) = 0;
  /// The bytes are on disk when this returns.
  virtual Status sync() = 0;
  /// All bytes are written. The file is closed even if it reports a problem.
  virtual Status close() = 0;
  /// After `close`: puts the file under its name, in the place of one that is there.
  virtual Status publish() = 0;
  /// After `publish`: the name is on disk when this returns.
  virtual Status sync_name() = 0;
};

/// While one lives, other processes wait for theirs.
class OutputLock {
 public:
  OutputLock() = default;
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;
  virtual ~OutputLock() = default;
};

/// A place to write a trial into. Whatever changes something there is one call here or of a `PendingFile`, so that a
/// test can make any of them fail, or be the process's last. Names are relative to the folder, with `/` between parts.
/// Nothing outside the folder is changed, wherever symbolic links in it lead. One thread at a time writes; `exists` and
/// `reader` may be called from another meanwhile.
class Output {
 public:
  virtual ~Output() = default;
  /// Begins a file that is to stand under `name`, and makes the folders above it where they are not there.
  virtual Outcome<std::unique_ptr<PendingFile>> create(const std::string& name) = 0;
  /// Whether there is a file of that name, as far as earlier calls have returned. A problem if that cannot be found
  /// out.
  virtual Outcome<bool> exists(const std::string& name) = 0;
  /// Whether pending files can be read back. Else what a step is appended to is copied before, not behind, what is new.
  [[nodiscard]] virtual bool reads_back() const noexcept { return true; }
  /// What is there, to be read.
  virtual Outcome<std::unique_ptr<storage::Storage>> reader() = 0;
  /// Keeps out other processes that take the lock too. Waits up to `timeout`, and not once `stop`, which may be empty,
  /// is true. Null where there is nothing to lock.
  virtual Outcome<std::unique_ptr<OutputLock>> lock(std::chrono::nanoseconds /*timeout*/,
                                                    const std::function<bool()>& /*stop*/ = {}) {
    return std::unique_ptr<OutputLock>();
  }
  /// Why `lock` cannot do what it is for; empty if it can.
  [[nodiscard]] virtual std::string why_no_lock() const { return {}; }
  /// For messages.
  [[nodiscard]] virtual const std::string& root() const noexcept = 0;
};

/// A problem with a file of that place, named so that it can be found from where the user stands.
[[nodiscard]] inline Problem located(const Output& output, const std::string& name, Problem problem) {
  problem.file = output.root() + "/" + name;
  return problem;
}

/// What a local folder's lock is taken on.
enum class LockPlace : std::uint8_t {
  folder,  ///< The folder itself.
  file,    ///< A file `lock.smd` in it: NFS locks no folders.
  none,    ///< The file system has no locks.
};

/// What tests choose instead of the best that the system has.
struct LocalOutputOptions {
  std::optional<storage::Resolve> resolve = {};
  LockPlace best_lock = LockPlace::folder;
};

/// A local folder, made if it is not there. Kept open by descriptor.
Outcome<std::unique_ptr<Output>> open_local_output(const std::string& path, const LocalOutputOptions& options = {});
/// The folder `name` beneath the one at `path`, both made if they are not there: no link leads out of the latter.
Outcome<std::unique_ptr<Output>> open_local_output_beneath(const std::string& path, std::string_view name,
                                                           const LocalOutputOptions& options = {});

/// `s3://bucket/prefix`. Nothing is asked of the server yet. Of each file that is not published, 64 MiB are held at
/// most.
Outcome<std::unique_ptr<Output>> open_remote_output(const std::string& url, const RemoteOptions& options);

}  // namespace smd::detail::hook
