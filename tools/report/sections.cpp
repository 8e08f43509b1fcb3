// SPDX-License-Identifier: Apache-2.0
#include "sections.hpp"

#include "cli/escape.hpp"
#include "html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace smd::tool::report {

std::string reduce_command(const PageContext& page, std::string_view of, std::string_view reductions) {
  return fmt::format("smd-reduce {}{}{} {} -r {}", page.operands, page.selection, page.every, of, reductions);
}

std::string name_option(std::string_view tensor) { return fmt::format("-n {}", shell_word(tensor)); }

std::string section_html(std::string_view anchor, std::string_view heading, std::string_view content) {
  if (content.empty()) {
    return {};
  }
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 id=\"{0}-heading\">{1}</h2>\n{2}"
      "</section>\n",
      anchor, xml(heading), content);
}

std::string figure_grid(const std::vector<std::string>& figures, std::size_t shown, std::string_view what) {
  const auto grid = [&](std::size_t begin, std::size_t end) {
    std::string out = "<div class=\"figures\">\n";
    for (std::size_t i = begin; i < end; ++i) {
      out += figures[i];
    }
    return out + "</div>\n";
  };
  if (figures.empty()) {
    return {};
  }
  const std::size_t open = std::min(shown, figures.size());
  std::string out = grid(0, open);
  if (open < figures.size()) {
    out += details_html(fmt::format("{} more {}", figures.size() - open, what), grid(open, figures.size()));
  }
  return out;
}

bool not_finite(const PageContext& page, std::string_view tensor) {
  return std::any_of(page.trials.begin(), page.trials.end(), [&](const TrialReport& trial) {
    if (trial.histories == nullptr) {
      return false;
    }
    const auto found = trial.histories->tensors.find(tensor);
    return found != trial.histories->tensors.end() && found->second.first_not_finite.has_value();
  });
}

std::vector<std::string> worst_first(const PageContext& page, std::vector<std::string> names) {
  using Rank = std::tuple<std::size_t, bool>;
  std::map<std::string, Rank, std::less<>> ranks;
  for (const std::string& name : names) {
    ranks.emplace(name, Rank(page.figures.findings_of(name), not_finite(page, name)));
  }
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return ranks.find(a)->second > ranks.find(b)->second;
  });
  return names;
}

}  // namespace smd::tool::report
