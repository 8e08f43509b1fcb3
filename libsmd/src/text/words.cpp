// SPDX-License-Identifier: Apache-2.0
#include "text/words.hpp"

#include "text/ascii.hpp"
#include "text/escape.hpp"

#include <array>

namespace smd::text {

namespace {

constexpr std::string_view separators = "/_-. \t\r\n\v\f";

/// Returns whether a word begins at `at` by camel case: `valLoss` at its `L`, `L2Norm` at its `N`, `HTTPError` at its
/// `E`.
bool begins_word(std::string_view name, std::size_t at) noexcept {
  if (at == 0 || !is_upper(name[at])) {
    return false;
  }
  const char before = name[at - 1];
  const bool lower_follows = at + 1 < name.size() && is_lower(name[at + 1]);
  return is_lower(before) || is_digit(before) || (is_upper(before) && lower_follows);
}

// clang-format off
constexpr std::array<std::pair<std::string_view, Side>, 10> side_words = {{
    {"train", Side::train}, {"training", Side::train}, {"trn", Side::train},
    {"validation", Side::eval}, {"valid", Side::eval}, {"val", Side::eval},
    {"evaluation", Side::eval}, {"eval", Side::eval}, {"holdout", Side::eval},
    {"test", Side::test},
}};
// clang-format on

}  // namespace

std::vector<std::string> split_words(std::string_view name) {
  std::vector<std::string> words;
  bool inside = false;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (separators.find(c) != std::string_view::npos) {
      inside = false;
      continue;
    }
    if (!inside || begins_word(name, at)) {
      words.emplace_back();
      inside = true;
    }
    words.back().push_back(to_lower(c));
  }
  return words;
}

Side side_of_word(std::string_view word, bool first_word) noexcept {
  const auto* const known = std::ranges::find(side_words, word, &decltype(side_words)::value_type::first);
  return known != side_words.end() ? known->second : first_word && word == "dev" ? Side::eval : Side::none;
}

std::string counted(std::size_t number, std::string_view noun) {
  return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

std::string counted(std::size_t number, std::string_view noun, std::string_view is, std::string_view are) {
  return counted(number, noun).append(" ").append(number == 1 ? is : are);
}

std::string first_names(const std::vector<std::string_view>& names) {
  return listed(names, 3, [](std::string_view name) { return detail::printable(name); });
}

}  // namespace smd::text
