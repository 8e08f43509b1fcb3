// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"

#include <smd/problem.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

/// Names of the files of a debugger trial: docs/format.md.
namespace smd::detail::layout {

inline constexpr std::string_view collections_folder = "collections/000000000";
inline constexpr std::string_view collections_suffix = "_collections.json";
inline constexpr std::string_view index_folder = "index";
inline constexpr std::string_view events_folder = "events";
inline constexpr std::string_view end_marker = "training_job_end.ts";
inline constexpr std::string_view lock_file = "lock.smd";  ///< Writers lock it where folders cannot be locked.

/// The parts of the name of an index file, or of an event file.
struct IndexFileName {
  std::int64_t step = 0;
  std::string_view worker_part;  ///< The worker's name as in file names; borrowed.
  bool csv = false;
};

/// Parses `000000000010_worker_0.json` (or `.csv`). Nullopt if the name has another form.
[[nodiscard]] std::optional<IndexFileName> parse_index_file_name(std::string_view leaf) noexcept;

/// Returns the worker whose name was serialised to `worker_part`. A leading `_` marks a device name.
[[nodiscard]] std::string worker_name(std::string_view worker_part);

/// The inverse: returns a worker's name as in file names. Device names, which start with `/`, are serialised.
[[nodiscard]] std::string worker_part(std::string_view worker);

/// Appends the step as file names write it: at least 12 digits (11 after a minus sign, as Python's `:012`).
void append_step_digits(std::string& text, std::int64_t step);

/// Appends `000000000010_worker_0.json`.
void append_index_leaf(std::string& text, std::int64_t step, std::string_view worker_part);
/// Returns whether a parsed name is the one that `append_index_leaf` appends for its parts.
[[nodiscard]] bool is_index_leaf(std::string_view leaf, const IndexFileName& name) noexcept;
/// Returns `index/000000000/000000000010_worker_0.json`.
[[nodiscard]] std::string index_path(std::int64_t step, std::string_view worker_part);
[[nodiscard]] std::string event_path(std::int64_t step, std::string_view worker_part);

/// Parses the name of an event file in `events/`. Nullopt for other paths.
[[nodiscard]] std::optional<IndexFileName> parse_event_path(std::string_view path) noexcept;

/// `Layout::check_names` for a debugger trial.
void check_trial_names(storage::Storage& storage, const std::unordered_set<std::string>& event_files,
                       const std::function<void(Problem)>& report);

}  // namespace smd::detail::layout
