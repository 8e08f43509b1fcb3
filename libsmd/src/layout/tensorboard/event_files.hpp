// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"
#include "wire/first_bytes.hpp"

#include <smd/limits.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Finds the event files of a TensorBoard log directory. Paths are relative to the trial.
namespace smd::detail::layout {

/// Returns whether a file holds events, by its name alone: `events.out.tfevents.1700000000.host.4242.0`, or
/// `000000000010_4242_host.tfevents` as the debugger's hook writes for TensorBoard. False for event files of a debugger
/// trial, such as `000000000010_worker_0.tfevents`.
[[nodiscard]] bool is_event_file(std::string_view path) noexcept;

/// Returns what a file with such a name is instead, by its first bytes; null if it is an event file, be it damaged. On
/// a remote store, the names that writers give are not doubted.
[[nodiscard]] const wire::KnownFile* foreign_event_file(storage::Storage& storage, const std::string& path);

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

/// Files whose first bytes were looked at: what they are instead of event files, or null. Foreign ones are looked at
/// again when their stamp changes.
struct CheckedFile {
  std::optional<storage::FileStamp> stamp;
  const wire::KnownFile* foreign = nullptr;
};
using CheckedFiles = std::map<std::string, CheckedFile, std::less<>>;

/// Lists the event files of a trial, as `FolderWalk` finds them: those at any depth, or if the folder itself has none,
/// those in the sides of one run. Returns a problem if the trial's folder cannot be listed. `checked`: by an earlier
/// call; updated.
[[nodiscard]] Outcome<EventFiles> find_event_files(storage::Storage& storage, CheckedFiles& checked);

}  // namespace smd::detail::layout
