// SPDX-License-Identifier: Apache-2.0
#include "docgen.hpp"

#include "cli/text.hpp"
#include "text/ascii.hpp"

#include <fmt/format.h>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>

#include <utility>

namespace smd::docgen {

namespace {

constexpr std::size_t line_width = 78;

std::string escaped(std::string_view text, bool minus) {
  static const std::map<char, std::string_view> names = {{'\\', "\\e"},  {'\'', "\\(aq"}, {'"', "\\(dq"},
                                                         {'`', "\\(ga"}, {'^', "\\(ha"},  {'~', "\\(ti"}};
  std::string out;
  while (!text.empty()) {
    const detail::CodePoint point = detail::first_character(text);
    const auto name = names.find(text.front());
    if (point.bytes > 1) {
      out += fmt::format("\\[u{:04X}]", static_cast<unsigned>(point.value));
    } else if (name != names.end()) {
      out += name->second;
    } else if (text.front() == '-' && minus) {
      out += "\\-";
    } else {
      out += text.front();
    }
    text.remove_prefix(point.bytes);
  }
  return out;
}

/// Returns the length of an option at the start of a word, such as `--by` or `-m`; 0 if there is none.
std::size_t option_length(std::string_view word) {
  std::size_t at = word.starts_with("--") ? 2 : word.starts_with('-') ? 1 : 0;
  if (at == 0 || at == word.size() || !text::is_letter(word[at])) {
    return 0;
  }
  if (at == 1) {
    return at + 1 < word.size() && text::is_alphanumeric(word[at + 1]) ? 0 : 2;
  }
  while (at < word.size() && (text::is_alphanumeric(word[at]) || (word[at] == '-' && at + 1 < word.size()))) {
    ++at;
  }
  return at;
}

std::string prose_word(std::string_view word) {
  const std::size_t opening = std::min(word.find_first_not_of("(["), word.size());
  std::string out = escaped(word.substr(0, opening), false);
  word.remove_prefix(opening);
  const std::size_t option = option_length(word);
  if (option > 0) {
    out += "\\fB" + escaped(word.substr(0, option), true) + "\\fR";
    word.remove_prefix(option);
  }
  // A hyphen between letters is thin and permits a line break; in commands and options it is a minus sign.
  const bool typed = word.find("smd-") != std::string_view::npos || word.starts_with('-') ||
                     word.find_first_of("/=_:@") != std::string_view::npos;
  return out + escaped(word, option > 0 || typed);
}

/// Returns whether a sentence ends with this word; `next` is the following word.
bool ends_sentence(std::string_view word, std::string_view next) {
  word = word.substr(0, word.find_last_not_of(")'") + 1);
  if (word.size() < 2 || std::string_view(".!?").find(word.back()) == std::string_view::npos || word == "e.g.") {
    return false;
  }
  return next.empty() || text::is_upper(next.front()) || !text::is_alphanumeric(next.front()) ||
         next.starts_with("smd-");
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  boost::split(words, text, boost::is_any_of(" \n"));
  std::erase(words, "");
  return words;
}

}  // namespace

void Roff::macro(std::string_view line) {
  text_ += line;
  text_ += '\n';
}

void Roff::paragraph(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  std::string line;
  const auto flush = [&] {
    macro((line.starts_with('.') || line.starts_with('\'') ? "\\&" : "") + line);
    line.clear();
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = prose_word(words[i]);
    if (!line.empty() && line.size() + 1 + word.size() > line_width) {
      flush();
    }
    line += line.empty() ? "" : " ";
    line += word;
    if (i + 1 < words.size() && ends_sentence(words[i], words[i + 1])) {
      flush();
    }
  }
  if (!line.empty()) {
    flush();
  }
}

void Roff::prose(std::string_view text) {
  bool first = true;
  for (const std::string_view one : tool::split(text, "\n\n")) {
    if (!std::exchange(first, false)) {
      macro(".Pp");
    }
    paragraph(one);
  }
}

void Roff::literal(std::string_view text) {
  macro(".Bd -literal -offset indent");
  for (const std::string_view plain : tool::split(text, "\n")) {
    const std::string line = escaped(plain, true);
    macro((line.starts_with('.') ? "\\&" : "") + line);
  }
  macro(".Ed");
}

std::string roff_word(std::string_view word) { return escaped(word, true); }

std::string as_sentence(std::string_view text) {
  std::string out(text);
  const std::string_view first = text.substr(0, text.find(' '));
  // `auto: …` explains the word `auto`, whose case must not change.
  if (!out.empty() && first.find_first_of(":_|=,") == std::string_view::npos) {
    out.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(out.front())));
  }
  const bool open = !out.empty() && std::string_view(".!?").find(out.back()) == std::string_view::npos;
  return open ? out + "." : out;
}

}  // namespace smd::docgen
