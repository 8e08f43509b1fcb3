// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"

#include <smd/limits.hpp>

#include <string>
#include <string_view>
#include <vector>

/// Which files of a TensorBoard log directory hold events. Paths are relative to the trial.
namespace smd::detail::layout {

/// Whether a file of that name holds events: `events.out.tfevents.1700000000.host.4242.0`. Names alone tell; the event
/// files of a debugger trial, `000000000010_worker_0.tfevents`, are none.
[[nodiscard]] bool is_event_file(std::string_view path) noexcept;

/// The run of an event file: the path of its folder, empty for the trial's own.
[[nodiscard]] std::string_view run_of(std::string_view path) noexcept;

/// Host and process that wrote a file, `host.4242`, as its name has them; the file's own name if it has none. Files
/// with equal writers are of one process.
[[nodiscard]] std::string_view writer_of(std::string_view path) noexcept;

/// The event files of a trial.
struct EventFiles {
  std::vector<std::string> paths;                 ///< By run, then by name, in byte order.
  ProblemList notes{limits::problems_per_trial};  ///< Folders that cannot be listed.
};

/// Lists them at any depth. Symbolic links are followed, each folder is taken once: by its own name rather than by a
/// link's. A problem if the trial's folder cannot be listed.
[[nodiscard]] Outcome<EventFiles> find_event_files(storage::Storage& storage);

}  // namespace smd::detail::layout
