// SPDX-License-Identifier: Apache-2.0
#include "cli/comparison.hpp"

#include "cli/errors.hpp"
#include "cli/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
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

std::optional<Relation> relation_of(std::string_view sign) noexcept {
  for (const auto& [text, relation] : relations) {
    if (text == sign) {
      return relation;
    }
  }
  return std::nullopt;
}

std::string_view without_blanks_around(std::string_view text) noexcept {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

Comparison parse_comparison(const std::string& text) {
  constexpr std::string_view signs = "=!<>~";
  struct Split {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Split> all;
  std::optional<Split> apart;  // the last with blanks around it
  for (std::size_t at = text.find_first_of(signs); at != std::string::npos; at = text.find_first_of(signs, at)) {
    const Split split = {at, std::min(text.find_first_not_of(signs, at), text.size())};
    all.push_back(split);
    at = split.end;
    if (split.begin > 0 && text[split.begin - 1] == ' ' && (split.end == text.size() || text[split.end] == ' ')) {
      apart = split;
    }
  }
  if (!apart && all.size() == 1) {
    apart = all.front();
  }
  const auto part = [&](std::size_t begin, std::size_t end) {
    return without_blanks_around(std::string_view(text).substr(begin, end - begin));
  };
  const auto relation = apart ? relation_of(part(apart->begin, apart->end)) : std::nullopt;
  if (!relation || part(0, apart->begin).empty()) {
    throw InvalidValue(single_quoted(text) +
                       " is not NAME OP VALUE, with blanks around OP, which is one of = != < <= > >= ~");
  }
  return {std::string(part(0, apart->begin)), *relation, std::string(part(apart->end, text.size())), text};
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

std::optional<double> parse_number(std::string_view text) noexcept {
  double number = 0;
  const bool plus = text.starts_with('+') && text.substr(1).find_first_of("+-") == std::string_view::npos;
  const char* const begin = text.data() + (plus ? 1 : 0);
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, number);
  return error == std::errc() && rest == end && begin != end ? std::optional(number) : std::nullopt;
}

}  // namespace smd::tool
