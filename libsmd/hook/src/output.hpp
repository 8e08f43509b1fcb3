// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/error.hpp>
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
#include <utility>

namespace smd::detail::hook {

/// A file that is being written. It has no name that readers know before `publish`; without `publish` its destructor
/// removes it.
class PendingFile {
 public:
  virtual ~PendingFile() = default;

  virtual Status write(std::span<const std::byte> bytes) = 0;
  /// Before `close`, and only if `Output::reads_back`: reads bytes that were written. @return their number, smaller
  /// than the size of `into` only at the end.
  virtual Outcome<std::size_t> read_back(std::uint64_t offset, std::span<std::byte> into) = 0;
  /// When this returns, the bytes are on disk.
  virtual Status sync() = 0;
  /// After the last `write`. The file is closed even if this returns a problem.
  virtual Status close() = 0;
  /// After `close`: gives the file its name, replacing a file of that name.
  virtual Status publish() = 0;
  /// After `publish`: when this returns, the name is on disk.
  virtual Status sync_name() = 0;
};

/// Holds the trial's lock until its last owner is gone.
using OutputLock = std::shared_ptr<void>;

/// The folder or S3 prefix that a trial is written into. Each change to it is one call of this class or of
/// `PendingFile`, so that tests can make any of them fail or end the process there. Names are relative to the folder,
/// with `/` between parts. No call changes anything outside the folder, even through symbolic links in it. One thread
/// at a time writes; `exists` and `open` may be called from another meanwhile.
class Output {
 public:
  virtual ~Output() = default;
  /// Begins the file `name`; makes the folders above it if they do not exist.
  virtual Outcome<std::unique_ptr<PendingFile>> create(const std::string& name) = 0;
  /// Returns whether there is a file of that name; sees every file of a call that has returned. Returns a problem if
  /// that cannot be determined.
  virtual Outcome<bool> exists(const std::string& name) = 0;
  /// Returns whether pending files can be read back. If not, appending to a step copies the old records before any new
  /// one is written.
  [[nodiscard]] virtual bool reads_back() const noexcept { return true; }
  /// Opens an existing file for reading.
  virtual Outcome<std::unique_ptr<storage::File>> open(const std::string& name) = 0;
  /// Opens the whole folder for reading.
  virtual Outcome<std::unique_ptr<storage::Storage>> reader() = 0;
  /// Takes the lock, which keeps out other processes that take it. Waits until `timeout` has passed or `stop`, which
  /// may be empty, returns true. Returns null if there is nothing to lock.
  virtual Outcome<OutputLock> lock(std::chrono::nanoseconds /*timeout*/, const std::function<bool()>& /*stop*/ = {}) {
    return OutputLock();
  }
  /// Returns why `lock` cannot keep others out; empty if it can.
  [[nodiscard]] virtual std::string why_no_lock() const { return {}; }
  /// Returns the path or URL, for messages.
  [[nodiscard]] virtual const std::string& root() const noexcept = 0;
};

/// Returns the problem with its file named by the path or URL that the user gave.
[[nodiscard]] inline Problem located(const Output& output, const std::string& name, Problem problem) {
  return in_file(std::move(problem), output.root() + "/" + name);
}

/// Returns the value. @throws `Thrown` (ReadError or WriteError) with the problem. The hook reports a ReadError about
/// writing as a WriteError.
template <class Thrown = ReadError, class T>
T or_throw(Outcome<T> outcome) {
  if (!outcome) {
    throw Thrown(std::move(outcome.problem()));
  }
  return std::move(*outcome);
}

/// Which file the lock of a local folder is on.
enum class LockPlace : std::uint8_t {
  folder,  ///< The folder itself.
  file,    ///< A file `lock.smd` in it: NFS locks no folders.
  none,    ///< The file system has no locks.
};

/// For tests. The default is the best that the system offers.
struct LocalOutputOptions {
  std::optional<storage::Resolve> resolve = {};
  LockPlace best_lock = LockPlace::folder;
};

/// Opens a local folder; makes it if it does not exist. Keeps a descriptor, so that renaming the folder does no harm.
Outcome<std::unique_ptr<Output>> open_local_output(const std::string& path, const LocalOutputOptions& options = {});
/// Opens the folder `name` in the folder `path`; makes both if they do not exist. Refuses a link that leads out of
/// `path`.
Outcome<std::unique_ptr<Output>> open_local_output_beneath(const std::string& path, std::string_view name,
                                                           const LocalOutputOptions& options = {});

/// Opens `s3://bucket/prefix`. Sends no request yet. Each file that is not published takes at most 64 MiB of memory.
Outcome<std::unique_ptr<Output>> open_remote_output(const std::string& url, const RemoteOptions& options);

}  // namespace smd::detail::hook
