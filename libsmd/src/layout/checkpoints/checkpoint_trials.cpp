// SPDX-License-Identifier: Apache-2.0
#include "layout/checkpoints/checkpoint_trials.hpp"

#include "layout/checkpoints/checkpoint_names.hpp"

#include <algorithm>
#include <optional>

namespace smd::detail::layout {

namespace {

/// Returns the parent of a folder. Nullopt for the place itself.
std::optional<std::string_view> around(std::string_view path) noexcept {
  if (path.empty()) {
    return std::nullopt;
  }
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string_view() : path.substr(0, slash);
}

bool lies_below(std::string_view path, std::string_view folder) noexcept {
  return folder.empty() || (path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/'));
}

}  // namespace

void FoundCheckpoints::take(std::string_view folder, std::string_view file) {
  if (is_safetensors(file)) {
    folders.emplace(folder);
  } else if (file == "model_index.json") {
    pipelines.emplace(folder);
  }
}

bool is_checkpoint_among_others(std::string_view name) { return step_of_name(name) || label_of_name(name); }

std::vector<std::string> trials_of_checkpoints(const FoundCheckpoints& found, const std::vector<std::string>& runs) {
  const auto is_log_directory = [&](std::string_view folder) {
    return std::any_of(runs.begin(), runs.end(), [&](std::string_view run) { return lies_below(run, folder); });
  };
  // Returns the parent of a folder if the folder is a part of it: a component, or a checkpoint among others.
  const auto whole = [&](std::string_view folder, bool component) -> std::optional<std::string_view> {
    const auto outer = around(folder);
    const bool belongs = outer && !is_log_directory(*outer) &&
                         (component ? found.folders.contains(*outer) || found.pipelines.contains(*outer) ||
                                          is_checkpoint_among_others(last_part_of(*outer))
                                    : is_checkpoint_among_others(last_part_of(folder)));
    return belongs ? outer : std::nullopt;
  };
  std::set<std::string, std::less<>> trials;
  for (const std::string& folder : found.folders) {
    if (is_log_directory(folder)) {
      continue;
    }
    std::string_view trial = folder;
    if (!is_checkpoint_among_others(last_part_of(trial))) {
      trial = whole(trial, true).value_or(trial);
    }
    trials.emplace(whole(trial, false).value_or(trial));
  }
  // Folders in a trial are its parts, or left out by it.
  std::erase_if(trials, [&](const std::string& trial) {
    const auto outer = around(trial);
    return outer && trials.contains(*outer);
  });
  return {trials.begin(), trials.end()};
}

}  // namespace smd::detail::layout
