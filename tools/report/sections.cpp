// SPDX-License-Identifier: Apache-2.0
#include "sections.hpp"

#include "cli/escape.hpp"
#include "html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace smd::tool::report {

std::string reduce_command(const PageContext& page, std::string_view of, std::string_view reductions,
                           const TrialReport* trial) {
  return fmt::format("smd-reduce {}{}{} {} -r {}", trial == nullptr ? page.operands : shell_word(trial->name),
                     page.selection, page.every, of, reductions);
}

std::string name_option(std::string_view tensor) { return fmt::format("-n {}", shell_word(tensor)); }

std::string figure_grid(std::vector<std::string> figures, std::size_t shown, std::string_view what) {
  std::erase(figures, std::string());
  const auto grid = [](auto begin, auto end) {
    return "<div class=\"figures\">\n" + joined(begin, end, "", std::identity()) + "</div>\n";
  };
  if (figures.empty()) {
    return {};
  }
  const auto open = figures.begin() + static_cast<std::ptrdiff_t>(std::min(shown, figures.size()));
  std::string out = grid(figures.begin(), open);
  if (open != figures.end()) {
    out += details_html(fmt::format("{} more {}", figures.end() - open, what), grid(open, figures.end()));
  }
  return out;
}

bool not_finite(const PageContext& page, std::string_view tensor) {
  return std::ranges::any_of(page.trials, [&](const TrialReport& trial) {
    const TensorHistory* const history = trial.history(tensor);
    return history != nullptr && history->first_not_finite;
  });
}

std::vector<std::string> worst_first(const PageContext& page, std::vector<std::string> names) {
  using Rank = std::pair<std::size_t, bool>;
  std::map<std::string, Rank> ranks;
  for (const std::string& name : names) {
    ranks.emplace(name, Rank(page.figures.findings_of(name), not_finite(page, name)));
  }
  std::ranges::stable_sort(names, std::greater(), [&](const std::string& name) { return ranks.at(name); });
  return names;
}

namespace {

constexpr std::size_t most_groups = 40;
constexpr std::size_t deepest = 12;

// The first parts of a name, without the last one.
std::string first_parts(const std::string& name, std::size_t parts) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    const std::size_t next = name.find_first_of("/.", end + 1);
    if (next == std::string::npos) {
      break;
    }
    end = next;
  }
  return end == 0 ? name : name.substr(0, end);
}

std::vector<LayerGroup> grouped_by(const std::vector<std::string>& names, std::size_t parts) {
  std::vector<LayerGroup> groups;
  std::map<std::string, std::size_t> places;
  for (const std::string& name : names) {
    std::string begin = first_parts(name, parts);
    const auto [place, is_new] = places.try_emplace(begin, groups.size());
    if (is_new) {
      groups.push_back({.name = std::move(begin), .tensors = {}});
    }
    groups[place->second].tensors.push_back(name);
  }
  return groups;
}

// Groups of consecutive names, if names have no parts or too many different first parts.
std::vector<LayerGroup> in_runs(const std::vector<std::string>& names) {
  const std::size_t length = std::max<std::size_t>((names.size() + most_groups - 1) / most_groups, 24);
  std::vector<LayerGroup> groups;
  for (std::size_t begin = 0; begin < names.size(); begin += length) {
    const auto run = std::span(names).subspan(begin, std::min(length, names.size() - begin));
    groups.push_back({.name = run.front() + " … " + run.back(), .tensors = {run.begin(), run.end()}, .by_name = false});
  }
  return groups;
}

}  // namespace

std::vector<LayerGroup> layer_groups(const std::vector<std::string>& names) {
  for (std::size_t parts = deepest; parts > 0; --parts) {
    std::vector<LayerGroup> groups = grouped_by(names, parts);
    if (groups.size() <= most_groups) {
      return groups;
    }
  }
  return in_runs(names);
}

std::string escaped_pattern(std::string_view text) { return with_backslashes(text, "\\^$.|?*+()[]{}"); }

}  // namespace smd::tool::report
