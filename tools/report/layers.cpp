// SPDX-License-Identifier: Apache-2.0
#include "layers.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

namespace smd::tool::report {

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
    const std::size_t end = std::min(begin + length, names.size());
    groups.push_back({.name = names[begin] + " … " + names[end - 1],
                      .tensors = {names.begin() + static_cast<std::ptrdiff_t>(begin),
                                  names.begin() + static_cast<std::ptrdiff_t>(end)},
                      .by_name = false});
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

std::string escaped_pattern(std::string_view text) {
  constexpr std::string_view special = "\\^$.|?*+()[]{}";
  std::string pattern;
  for (const char byte : text) {
    if (special.find(byte) != std::string_view::npos) {
      pattern += '\\';
    }
    pattern += byte;
  }
  return pattern;
}

}  // namespace smd::tool::report
