// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/limits.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Finds the event files of a TensorBoard log directory. Paths are relative to the trial.
namespace smd::detail::layout {

/// Returns whether a file holds events, by its name alone: `events.out.tfevents.1700000000.host.4242.0`. False for
/// event files of a debugger trial, such as `000000000010_worker_0.tfevents`.
[[nodiscard]] bool is_event_file(std::string_view path) noexcept;

/// Returns the run of an event file: the path of its folder, empty for the trial's own.
[[nodiscard]] std::string_view run_of(std::string_view path) noexcept;

/// Returns the host and process in a file's name, `host.4242`; the whole name if it has none. Files with equal writers
/// are of one process.
[[nodiscard]] std::string_view writer_of(std::string_view path) noexcept;

/// The event files of a trial.
struct EventFiles {
  std::vector<std::string> paths;                 ///< By run, then by name, in byte order.
  ProblemList notes{limits::problems_per_trial};  ///< Folders that cannot be listed.
};

/// Lists the event files at any depth. Follows symbolic links, but lists each folder once, by its own name rather than
/// by that of a link. Returns a problem if the trial's folder cannot be listed.
[[nodiscard]] Outcome<EventFiles> find_event_files(storage::Storage& storage);

}  // namespace smd::detail::layout
