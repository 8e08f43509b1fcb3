// SPDX-License-Identifier: Apache-2.0
#include "trial/recognise.hpp"

#include "layout/checkpoints/checkpoint_folders.hpp"
#include "layout/checkpoints/checkpoint_trials.hpp"
#include "layout/debugger/debugger_layout.hpp"
#include "layout/tensorboard/event_files.hpp"
#include "layout/tensorboard/runs.hpp"
#include "text/escape.hpp"

#include <algorithm>
#include <utility>

namespace smd::detail::trial {

namespace {

bool holds_event_file(const std::vector<storage::DirEntry>& entries) {
  return std::any_of(entries.begin(), entries.end(), [](const storage::DirEntry& entry) {
    return entry.kind == storage::EntryKind::file && layout::is_event_file(entry.name);
  });
}

}  // namespace

Recognised recognise(storage::Storage& storage, const std::function<storage::Storage&()>& with_links) {
  if (layout::holds_debugger_trial(storage)) {
    return {Recognised::Kind::debugger, {}};
  }
  if (storage.exists(layout::inner_folder)) {
    return {Recognised::Kind::inner, {}};
  }
  const auto files = layout::find_event_files(with_links());
  if (!files) {
    return {};  // reading the trial reports why it cannot be listed
  }
  if (files->paths.empty()) {
    return {layout::holds_checkpoints(with_links()) ? Recognised::Kind::checkpoints : Recognised::Kind::nothing, {}};
  }
  std::vector<std::string> runs;
  for (const std::string& path : files->paths) {
    if (const std::string_view run = layout::run_of(path); runs.empty() || runs.back() != run) {
      runs.emplace_back(run);
    }
  }
  std::vector<std::string> trials = layout::trials_of_runs(runs);
  if (trials.front().empty()) {
    return {Recognised::Kind::tensorboard, {}};
  }
  return {Recognised::Kind::several_runs, std::move(trials)};
}

bool is_part_of_trial(storage::Storage& parent, std::string_view name) {
  if (layout::holds_debugger_trial(parent)) {
    return true;
  }
  auto entries = parent.list({});
  if (!entries) {
    return false;
  }
  if (holds_event_file(*entries)) {
    return true;
  }
  // Check that all runs in `parent` are sides of one trial. Only its own folders are listed: it may hold many jobs.
  std::size_t runs = 0;
  bool among_them = false;
  for (const storage::DirEntry& entry : *entries) {
    if (entry.kind != storage::EntryKind::folder || !layout::ends_in_side(name)) {
      continue;
    }
    const auto below = parent.list(entry.name);
    if (!below || !holds_event_file(*below)) {
      continue;
    }
    if (!layout::ends_in_side(entry.name)) {
      return false;
    }
    ++runs;
    among_them = among_them || entry.name == name;
  }
  return among_them && runs > 1;
}

bool is_checkpoint_of_trial(storage::Storage& parent, std::string_view name) {
  if (!layout::is_checkpoint_among_others(name) || layout::holds_debugger_trial(parent)) {
    return false;
  }
  const auto entries = parent.list({});
  return entries && !holds_event_file(*entries);
}

std::string say_several(const std::string& path, const std::vector<std::string>& runs) {
  constexpr std::size_t shown = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(shown, runs.size()); ++i) {
    names += (i == 0 ? "" : ", ") + printable(runs[i]);
  }
  const std::string holds = "'" + printable(path) + "' holds ";
  return runs.size() == 1
             ? holds + "1 run: " + names + "; name it"
             : holds + std::to_string(runs.size()) + " runs: " + names + (runs.size() > shown ? " …" : "") +
                   "; name one, or all of them with `smd-ls --find " + printable(path) + "`";
}

}  // namespace smd::detail::trial
