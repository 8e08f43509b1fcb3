// SPDX-License-Identifier: Apache-2.0
#include "cli/text.hpp"

#include "cli/escape.hpp"

#include <algorithm>

namespace smd::tool {

namespace {

bool is_glob(std::string_view text) {
  return text.find_first_of("*?") != std::string_view::npos ||
         (text.find('[') != std::string_view::npos && text.find(']') != std::string_view::npos);
}

// Whether the text has characters that globs do not use, or uses `*` or `?` as only regular expressions do.
bool is_regex(std::string_view text) {
  if (text.find_first_of("()|\\^$+{}") != std::string_view::npos) {
    return true;
  }
  for (const std::string_view repeated : {".*", ".?", "]*", "]?"}) {
    if (text.find(repeated) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::optional<std::string> regex_of_glob(std::string_view text) {
  if (!is_glob(text) || is_regex(text)) {
    return std::nullopt;
  }
  // A search finds the pattern anywhere, so a star at an end needs no anchor there.
  const bool open_start = text.starts_with('*');
  text.remove_prefix(std::min(text.find_first_not_of('*'), text.size()));
  const bool open_end = text.empty() || text.ends_with('*');
  text = text.substr(0, text.find_last_not_of('*') + 1);
  std::string regex = open_start ? "" : "^";
  append_replaced(regex, text, {{'*', ".*"}, {'?', "."}, {'.', "\\."}});
  return open_end ? regex : regex + "$";
}

std::string glob_for_regex(std::string_view text) {
  const std::optional<std::string> regex = regex_of_glob(text);
  if (!regex) {
    return {};
  }
  return single_quoted(text) + " is a regular expression, not a glob: try " +
         single_quoted(regex->empty() ? "." : *regex);
}

}  // namespace smd::tool
