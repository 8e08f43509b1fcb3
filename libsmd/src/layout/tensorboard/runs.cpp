// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/runs.hpp"

#include "layout/tensorboard/event_files.hpp"
#include "text/words.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace smd::detail::layout {

namespace {

using Paths = std::vector<std::string_view>;

/// Groups paths below a folder, whose own path has `folder_bytes`, by the name of the folder in it that leads to them.
std::map<std::string_view, Paths> by_next_part(const Paths& paths, std::size_t folder_bytes) {
  std::map<std::string_view, Paths> parts;
  for (const std::string_view path : paths) {
    const std::size_t start = folder_bytes == 0 ? 0 : folder_bytes + 1;
    parts[path.substr(start, path.find('/', start) - start)].push_back(path);
  }
  return parts;
}

bool are_sides_of_one(const Paths& runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [&](std::string_view run) { return run_of(run) == run_of(runs.front()) && ends_in_side(run); });
}

void add_trials(const std::string& folder, const Paths& runs, const Paths& others, std::vector<std::string>& trials) {
  const bool itself = std::find(runs.begin(), runs.end(), folder) != runs.end();
  if (itself || (others.empty() && are_sides_of_one(runs))) {
    trials.push_back(folder);
    return;
  }
  const auto others_below = by_next_part(others, folder.size());
  for (const auto& [part, below] : by_next_part(runs, folder.size())) {
    const auto there = others_below.find(part);
    add_trials(folder.empty() ? std::string(part) : folder + "/" + std::string(part), below,
               there == others_below.end() ? Paths() : there->second, trials);
  }
}

}  // namespace

bool ends_in_side(std::string_view path) {
  const std::vector<std::string> words = text::split_words(path.substr(path.rfind('/') + 1));
  return !words.empty() && text::side_of_word(words.back(), words.size() == 1) != text::Side::none;
}

std::vector<std::string> trials_of_runs(std::span<const std::string> runs, std::span<const std::string> others) {
  std::vector<std::string> trials;
  if (!runs.empty()) {
    add_trials({}, {runs.begin(), runs.end()}, {others.begin(), others.end()}, trials);
    std::sort(trials.begin(), trials.end());
  }
  return trials;
}

}  // namespace smd::detail::layout
