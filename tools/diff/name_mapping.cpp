// SPDX-License-Identifier: Apache-2.0
#include "name_mapping.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "text/pattern.hpp"

#include <algorithm>
#include <iterator>

namespace smd::tool::diff {

NameMapping::NameMapping(const DiffCommandOptions& options, bool of_a, std::span<const std::string> tensors) {
  if (options.strip.empty() && options.rename.empty()) {
    return;
  }
  for (const std::string& tensor : tensors) {
    std::string name = tensor;
    const auto is_before = [&](const std::string& prefix) {
      return name.starts_with(prefix) && name.size() > prefix.size();
    };
    std::vector<std::string> prefixes = options.strip;  // each once, in whatever order the name has them
    for (auto next = prefixes.end(); (next = std::ranges::find_if(prefixes, is_before)) != prefixes.end();) {
      name.erase(0, next->size());
      prefixes.erase(next);
    }
    for (const Renaming& renaming : options.rename) {
      std::string error;
      if (of_a) {
        const auto renamed = renaming.substitution->apply(name, error);
        refuse_if(!renamed, "--rename: " + single_quoted(renaming.text) + ": " + error);
        name = *renamed;
      }
    }
    const auto [place, fresh] = own_.emplace(name, tensor);
    refuse_if(!fresh, "--strip and --rename make one name, " + single_quoted(name) + ", of " +
                          single_quoted(place->second) + " and " + single_quoted(tensor));
    shown_.emplace(tensor, std::move(name));
  }
}

std::string_view NameMapping::shown(std::string_view own) const {
  const auto found = shown_.find(own);
  return found == shown_.end() ? own : std::string_view(found->second);
}

std::vector<std::string> NameMapping::shown_names(std::span<const std::string> own) const {
  std::vector<std::string> names = mapped(own, [this](const std::string& name) { return std::string(shown(name)); });
  std::ranges::sort(names);
  return names;
}

const std::string& NameMapping::own(const std::string& shown) const {
  const auto found = own_.find(shown);
  return found == own_.end() ? shown : found->second;
}

std::vector<std::string> NameMapping::own_names(std::span<const std::string> shown) const {
  std::vector<std::string> names = mapped(shown, [this](const std::string& name) { return own(name); });
  std::ranges::sort(names);
  return names;
}

std::string joining_prefix(std::span<const std::string> a, std::span<const std::string> b) {
  constexpr std::size_t most_levels = 4;
  std::vector<std::string> only_a;
  std::vector<std::string> only_b;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(only_a));
  std::set_difference(b.begin(), b.end(), a.begin(), a.end(), std::back_inserter(only_b));
  const std::size_t common = a.size() - only_a.size();
  if (only_a.size() + only_b.size() <= common) {
    return {};
  }
  std::map<std::string, std::size_t> joins;  // by prefix: how many names it would join
  for (const auto& [from, to] : {std::pair(&only_a, &only_b), std::pair(&only_b, &only_a)}) {
    for (const std::string& name : *from) {
      std::size_t at = 0;
      for (std::size_t level = 0; level < most_levels; ++level) {
        at = name.find_first_of("./", at);
        if (at == std::string::npos) {
          break;
        }
        ++at;
        if (std::ranges::binary_search(*to, name.substr(at))) {
          ++joins[name.substr(0, at)];
        }
      }
    }
  }
  const auto best = std::ranges::max_element(joins, {}, [](const auto& one) { return one.second; });
  if (best == joins.end() || 2 * best->second < std::min(only_a.size(), only_b.size())) {
    return {};
  }
  return counted(only_a.size() + only_b.size(), "tensor") + " are in one trial only: --strip " +
         single_quoted(best->first) + " joins " + counted(best->second, "name");
}

}  // namespace smd::tool::diff
