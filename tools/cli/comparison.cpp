// SPDX-License-Identifier: Apache-2.0
#include "cli/comparison.hpp"

#include "cli/exit_status.hpp"
#include "cli/text.hpp"
#include "text/trim.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace smd::tool {

namespace {

constexpr std::array<std::pair<std::string_view, Relation>, 8> relations = {{{"=", Relation::equal},
                                                                             {"==", Relation::equal},
                                                                             {"!=", Relation::unequal},
                                                                             {"<", Relation::less},
                                                                             {"<=", Relation::at_most},
                                                                             {">", Relation::greater},
                                                                             {">=", Relation::at_least},
                                                                             {"~", Relation::matches}}};

}  // namespace

Comparison parse_comparison(const std::string& whole, std::string_view form) {
  constexpr std::string_view signs = "=!<>~";
  struct Split {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Split> all;
  std::optional<Split> apart;  // the last with blanks around it
  for (std::size_t at = whole.find_first_of(signs); at != std::string::npos; at = whole.find_first_of(signs, at)) {
    const Split split = {at, std::min(whole.find_first_not_of(signs, at), whole.size())};
    all.push_back(split);
    at = split.end;
    if (split.begin > 0 && whole[split.begin - 1] == ' ' && (split.end == whole.size() || whole[split.end] == ' ')) {
      apart = split;
    }
  }
  if (!apart && all.size() == 1) {
    apart = all.front();
  }
  const auto part = [&](std::size_t begin, std::size_t end) {
    return text::trimmed(std::string_view(whole).substr(begin, end - begin), " ");
  };
  const std::string_view sign = apart ? part(apart->begin, apart->end) : std::string_view();
  const auto* const row = std::ranges::find_if(relations, [&](const auto& one) { return one.first == sign; });
  invalid_if(row == relations.end() || part(0, apart->begin).empty(),
             single_quoted(whole) + " is not " + std::string(form));
  return {std::string(part(0, apart->begin)), row->second, std::string(part(apart->end, whole.size())), whole};
}

bool holds(Relation relation, int order) noexcept {
  switch (relation) {
    case Relation::equal:
      return order == 0;
    case Relation::unequal:
      return order != 0;
    case Relation::less:
      return order < 0;
    case Relation::at_most:
      return order <= 0;
    case Relation::greater:
      return order > 0;
    case Relation::at_least:
      return order >= 0;
    case Relation::matches:
      break;
  }
  return false;
}

}  // namespace smd::tool
