// SPDX-License-Identifier: Apache-2.0
#include "layout/kinds/kinds.hpp"

#include "layout/checkpoints/checkpoint_names.hpp"
#include "layout/tensorboard/event_files.hpp"
#include "layout/wandb/run_file.hpp"
#include "text/mapped.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>

namespace smd::detail::layout {

namespace {

std::vector<LayoutKind>& table() {
  static std::vector<LayoutKind> rows = {
      {.traits = {.name = "debugger", .has_modes = true, .marks_steps = true, .has_checksums = true, .is_saved = true},
       .contents = "collection files",
       .usual_folder = "debug-output",
       .follows_links = false,
       .holds = holds_debugger_trial,
       .open = debugger_layout},
      {.traits = {.name = "tensorboard", .has_checksums = true},
       .contents = "event files of TensorBoard",
       .holds = holds_log_directory,
       .reads_file = is_event_file,
       .open = tensorboard_layout},
      {.traits = {.name = "wandb", .has_checksums = true, .has_system = true},
       .contents = "run files of W&B",
       .holds = holds_runs_of_wandb,
       .reads_file = is_run_file,
       .holds_file = is_wandb_file,
       .takes_step_name = true,
       .open = wandb_layout},
      {.traits = {.name = "checkpoints", .has_headers = true},
       .contents = "checkpoints",
       .holds = holds_checkpoints,
       .reads_file = is_checkpoint_file,
       .holds_file = is_tensor_file,
       .open = checkpoints_layout},
      {.traits = {.name = "metrics"},
       .contents = "metric logs (CSV, JSON lines)",
       .holds = holds_metric_log,
       .reads_file = is_metric_log_name,
       .holds_file = is_metric_log,
       .why_not = why_no_metric_log,
       .takes_step_name = true,
       .open = metrics_layout},
  };
  return rows;
}

using HeldFolders = std::map<std::string, Held, std::less<>>;  // of one layout, by path

/// Returns whether a trial above a folder reads its data.
bool is_read_above(const HeldFolders& folders, std::string_view path) {
  for (std::size_t end = 0; end != path.npos && !path.empty(); end = path.find('/', end + 1)) {
    const auto above = folders.find(path.substr(0, end));
    if (above != folders.end() && above->second.reads(path.substr(end == 0 ? 0 : end + 1))) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::span<const LayoutKind> kinds() noexcept { return table(); }

AddedKind::AddedKind(LayoutKind kind) { table().push_back(kind); }
AddedKind::~AddedKind() { table().pop_back(); }

std::string contents_of_kinds(std::string_view only) {
  std::vector<std::string_view> all;
  for (const LayoutKind& kind : kinds()) {
    if (kind.counts(only)) {
      all.push_back(kind.contents);
    }
  }
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    text.append(i == 0 ? "" : i + 1 == all.size() ? " or " : ", ").append(all[i]);
  }
  return text;
}

Recognised recognise(FolderWalk& folder, std::string_view only) {
  Recognised found;
  for (const LayoutKind& kind : kinds()) {
    std::optional<Held> held = kind.counts(only) ? kind.holds(folder) : std::nullopt;
    if (!held) {
      continue;
    }
    const LayoutKind* other = &kind;
    if (found.kind == nullptr || (held->itself && !found.held.itself)) {
      std::swap(found.held, *held);
      std::swap(found.kind, other);
    }
    if (other != nullptr) {
      found.left_out.push_back({other, *std::move(held)});
    }
  }
  return found;
}

std::vector<std::string> find_trials(FolderWalk& walk, std::string_view only) {
  std::vector<HeldFolders> of_kinds(kinds().size());
  do {
    std::span<const std::string_view> own;
    for (std::size_t i = 0; i < kinds().size(); ++i) {
      if (std::optional<Held> held = kinds()[i].counts(only) ? kinds()[i].holds(walk) : std::nullopt) {
        own = held->own_folders.empty() ? own : held->own_folders;
        of_kinds[i].emplace(walk.path(), *std::move(held));
      }
    }
    walk.enter_all(own);
  } while (walk.next());
  std::set<std::string> trials;
  for (const HeldFolders& folders : of_kinds) {
    for (const auto& [path, held] : folders) {
      if (!is_read_above(folders, path)) {
        trials.insert(path);
      }
    }
  }
  return {trials.begin(), trials.end()};
}

}  // namespace smd::detail::layout

std::vector<smd::LayoutTraits> smd::layouts() {
  return detail::mapped(detail::layout::kinds(), &detail::layout::LayoutKind::traits);
}
