// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "text/limits.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"
#include "wire/first_bytes.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Finds the event files of a TensorBoard log directory. Paths are relative to the trial.
namespace smd::detail::layout {

/// Returns whether a file holds events, by its name alone: `events.out.tfevents.1700000000.host.4242.0`, or
/// `000000000010_4242_host.tfevents` as the debugger's hook writes for TensorBoard. False for event files of a debugger
/// trial, such as `000000000010_worker_0.tfevents`, and for names of copies that are being made, as rsync's
/// `.events.out.tfevents.1700000000.host.aB3dEf`.
[[nodiscard]] bool is_event_file(std::string_view path) noexcept;

/// Returns what a file with such a name is known as, by its first bytes; null if it has records, or nothing that is
/// known. On a remote store, the names that writers give are not doubted.
[[nodiscard]] const wire::KnownFile* known_event_file(storage::Storage& storage, const std::string& path);

/// Returns whether what is known as that, which may be null, is no event file, not even a damaged one.
[[nodiscard]] bool is_foreign(const wire::KnownFile* known) noexcept;

/// Returns the run of an event file: the path of its folder, empty for the trial's own.
[[nodiscard]] std::string_view run_of(std::string_view path) noexcept;

/// Returns the host and process in a file's name, `host.4242` or `4242_host`; the whole name if it has none. Files with
/// equal writers are of one process.
[[nodiscard]] std::string_view writer_of(std::string_view path) noexcept;

/// The event files of a trial.
struct EventFiles {
  std::vector<std::string> paths;                 ///< By run, then by name, in byte order.
  ProblemList notes{limits::problems_per_trial};  ///< Folders that cannot be listed, and files that are left out.
};

/// Files whose first bytes were looked at, and what they are known as. Those that are known as something, be it empty,
/// are looked at again when their stamp changes.
struct CheckedFile {
  std::optional<storage::FileStamp> stamp;
  const wire::KnownFile* known = nullptr;
};
using CheckedFiles = std::map<std::string, CheckedFile, std::less<>>;

/// Lists the event files of a trial, as `FolderWalk` finds them: those at any depth, or if the folder itself has none,
/// those in the sides of one run. Returns a problem if the trial's folder cannot be listed. `checked`: by an earlier
/// call; updated.
[[nodiscard]] Outcome<EventFiles> find_event_files(storage::Storage& storage, CheckedFiles& checked);

// Which runs beside each other are sides of one: `train` and `validation`, `loss_train` and `loss_val`.

/// Returns whether a folder's name is a word for a part of the data, or ends in one: `train`, `loss_val`.
[[nodiscard]] bool ends_in_side(std::string_view name);

/// Returns those of the runs in one folder that are sides of one run: names that are a side alone; else the names, two
/// or more, that are equal without it, unless there are several such sets. Other runs do not matter, so that a run
/// keeps its path when another one appears beside it. `runs`: names that end in a side.
[[nodiscard]] std::vector<std::string> sides_of_one(std::span<const std::string> runs);

/// Distinguishes the workers of one run: a file that begins before the end of an earlier one of another process is that
/// of a concurrent worker. Files must be passed in the order of their first events.
class WorkersOfRun {
 public:
  /// Returns the worker of the next file: that of an earlier file of the same writer, else the lowest worker without a
  /// file that overlaps it.
  [[nodiscard]] std::uint32_t begin_file(std::string_view writer, double first_time);
  /// Ends a file. `last_time`: when its last event was written.
  void end_file(std::uint32_t worker, double last_time);

 private:
  std::map<std::string, std::uint32_t, std::less<>> worker_of_;  // by writer
  std::vector<double> last_times_;                               // by worker
};

}  // namespace smd::detail::layout
