// SPDX-License-Identifier: Apache-2.0
#include "text/pattern_dialect.hpp"

#include "text/pattern_class.hpp"
#include "text/pattern_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace smd::detail {

namespace {

using Refusal = Translation::Refusal;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool has(std::string_view letters, char letter) noexcept { return letters.find(letter) != letters.npos; }

/// The letters `i-s` of `(?i-s:`.
struct FlagLetters {
  std::string_view on;
  std::string_view off;

  void apply_to(PatternFlags& flags) const noexcept {
    flags.ascii = has(on, 'a') || (flags.ascii && !has(on, 'u'));
    flags.ignore_case = (flags.ignore_case || has(on, 'i')) && !has(off, 'i');
    flags.verbose = (flags.verbose || has(on, 'x')) && !has(off, 'x');
  }
};

/// Returns the letters that are passed to PCRE2.
std::string native(std::string_view letters) {
  std::string text;
  for (const char letter : {'i', 'm', 's'}) {
    text += has(letters, letter) ? std::string(1, letter) : "";
  }
  return text;
}

/// Global flags apply to the whole pattern, wherever they are.
struct GlobalFlags {
  PatternFlags flags;
  std::string native;  ///< As letters.
};

/// Translates a pattern piece by piece.
class Translator {
 public:
  /// `known`: the global flags found so far.
  Translator(std::string_view python, const GlobalFlags& known) : in_(python), flags_(known.flags) {
    result_.pcre2 = known.native.empty() ? "" : "(?" + known.native + ")";
  }

  void run() {
    try {
      while (!in_.done()) {
        piece();
        result_.marks.push_back({out().size(), in_.place()});
      }
    } catch (Refusal& refusal) {
      result_.refusal = std::move(refusal);
    }
  }

  /// Global flags that `run` has found; nullopt if there are none.
  [[nodiscard]] const std::optional<GlobalFlags>& global_flags() const noexcept { return global_; }
  Translation take() && { return std::move(result_); }

 private:
  [[nodiscard]] std::string& out() noexcept { return result_.pcre2; }
  void copy(std::size_t bytes) { out() += in_.take(bytes); }
  /// Copies from `from` through the first `end`. Without an `end`, copies the rest: PCRE2 then reports the error.
  void copy_through(std::string_view end, std::size_t from) {
    const std::size_t found = in_.rest().find(end, from);
    copy(found == std::string_view::npos ? found : found + end.size());
  }

  void piece() {
    const char c = in_.at(0);
    if (flags_.verbose && is_space(c)) {
      in_.take(1);
    } else if (flags_.verbose && c == '#') {
      in_.take(in_.rest().find('\n'));
    } else if (c == '\\') {
      escape();
    } else if (c == '[') {
      char_class();
    } else if (c == '(') {
      open_group();
    } else if (c == ')') {
      if (!outer_.empty()) {
        flags_ = outer_.back();
        outer_.pop_back();
      }
      copy(1);
    } else if (c == '{') {
      brace();
    } else if (flags_.ignore_case && (static_cast<unsigned char>(c) >= 0x80 || is_letter(c))) {
      append_literal(out(), in_.character(), flags_);
    } else {
      copy(1);
    }
  }

  void escape() {
    const char kind = in_.at(1);
    const std::string_view members = class_members(kind, flags_.ascii);
    if (!members.empty()) {
      out().append("[").append(members).append("]");
      in_.take(2);
    } else if (kind == 'b' || kind == 'B') {
      word_border(kind == 'b');
      in_.take(2);
    } else if (kind == 'Z') {
      out() += "\\z";
      in_.take(2);
    } else if (kind == 'Q') {  // this and the next are PCRE2's own syntax
      copy_through("\\E", 2);
    } else if (has("pPxNgko", kind) && in_.at(2) == '{' && !named_character()) {
      copy_through("}", 2);
    } else if (const auto character = escaped_character(false)) {
      append_literal(out(), *character, flags_);
    } else if (is_digit(kind)) {
      const std::size_t digits = is_digit(in_.at(2)) ? 2 : 1;
      refuse_reference();
      out().append("\\g{").append(in_.take(1 + digits).substr(1)).append("}");
    } else if (static_cast<unsigned char>(kind) >= 0x80) {
      in_.take(1);
      append_literal(out(), in_.character(), flags_);
    } else {
      copy(2);
    }
  }

  void word_border(bool wanted) {
    const std::string word = "[" + std::string(class_members('w', flags_.ascii)) + "]";
    const std::string behind = "(?<=" + word + ")";
    const std::string not_behind = "(?<!" + word + ")";
    const std::string ahead = "(?=" + word + ")";
    const std::string not_ahead = "(?!" + word + ")";
    if (wanted) {
      out() += "(?:" + behind + not_ahead + "|" + not_behind + ahead + ")";
    } else {  // in Python neither \b nor \B matches an empty text
      out() += "(?:" + behind + ahead + "|" + not_behind + not_ahead + "(?!\\A\\z))";
    }
  }

  [[nodiscard]] bool named_character() const { return in_.rest().starts_with("\\N{") && in_.at(3) != 'U'; }

  std::optional<std::uint32_t> escaped_character(bool in_class) {
    if (named_character()) {
      in_.refuse("\\N{NAME} is not supported", "; write the character itself, or \\uXXXX");
    }
    return in_.escaped_character(in_class);
  }

  /// Refuses a combination of flags for which PCRE2 would compare by Unicode's rules.
  void refuse_reference() const {
    if (flags_.ascii && flags_.ignore_case) {
      in_.refuse("a reference to a group", " is not supported under the flags a and i together");
    }
  }

  /// An item of a class: a character, or members such as `\w`.
  struct Item {
    std::uint32_t character = 0;
    std::string_view members = {};
  };

  Item class_item() {
    if (in_.at(0) != '\\') {
      return {.character = in_.character()};
    }
    const char kind = in_.at(1);
    if (const std::string_view members = class_members(kind, flags_.ascii); !members.empty()) {
      in_.take(2);
      return {.members = members};
    }
    if (const auto character = escaped_character(true)) {
      return {.character = *character};
    }
    if (has("pPxN", kind) && in_.at(2) == '{') {  // PCRE2's own
      const std::size_t end = in_.rest().find('}');
      return {.members = in_.take(end == std::string_view::npos ? end : end + 1)};
    }
    if (is_letter(kind) || is_digit(kind)) {
      return {.members = in_.take(has("pP", kind) ? 3 : 2)};
    }
    in_.take(1);
    check_class_open();
    return {.character = in_.character()};
  }

  void check_class_open() const {
    if (in_.done()) {
      in_.refuse("missing terminating ] for character class");
    }
  }

  void char_class() {
    const bool negated = in_.at(1) == '^';
    in_.take(negated ? 2 : 1);
    ClassText text(negated, flags_);
    bool first = true;
    for (check_class_open(); first || in_.at(0) != ']'; check_class_open()) {  // a bracket in first place is a member
      first = false;
      const PatternReader range = in_;
      const Item low = class_item();
      if (in_.at(0) != '-' || in_.at(1) == ']' || in_.rest().size() < 2) {
        low.members.empty() ? text.add(low.character, low.character) : text.add(low.members);
        continue;
      }
      in_.take(1);
      const Item high = class_item();
      if (!low.members.empty() || !high.members.empty() || low.character > high.character) {
        range.refuse("bad range in a character class");
      }
      text.add(low.character, high.character);
    }
    in_.take(1);
    text.append_to(out());
  }

  /// Translates a quantifier, or a literal brace.
  void brace() {
    std::size_t low = 1;
    for (; is_digit(in_.at(low)); ++low) {
    }
    std::size_t high = low;
    if (in_.at(low) == ',') {
      for (++high; is_digit(in_.at(high)); ++high) {
      }
    }
    if (in_.at(high) != '}' || high == 1) {
      out() += "\\{";
      in_.take(1);
      return;
    }
    out() += low == 1 ? "{0" : "{";
    in_.take(1);
    copy(high);
  }

  void open_group() {
    const std::string_view rest = in_.rest();
    if (in_.at(1) == '*') {
      in_.refuse("nothing to repeat");
    }
    if (rest.starts_with("(?#")) {
      const std::size_t end = rest.find(')');
      if (end == rest.npos) {
        in_.refuse("missing ), unterminated comment");
      }
      in_.take(end + 1);
    } else if (rest.starts_with("(?P=")) {
      refuse_reference();
      copy_through(")", 0);
    } else if (in_.at(1) != '?' || !flags_group()) {
      outer_.push_back(flags_);
      const bool behind = in_.at(2) == '<' && (in_.at(3) == '=' || in_.at(3) == '!');
      if (rest.starts_with("(?P<") || (rest.starts_with("(?<") && !behind)) {
        copy_through(">", 0);
      } else if (rest.starts_with("(?(") && in_.at(3) != '?') {
        copy_through(")", 0);
      } else {
        copy(in_.at(1) != '?' ? 1 : in_.at(2) == '(' ? 2 : behind ? 4 : 3);
      }
    }
  }

  /// Reads `(?i)`, `(?i:` and so on. Returns false if something else is next.
  bool flags_group() {
    static constexpr std::string_view known = "aiLmsux";
    std::size_t end = 2;
    for (; has(known, in_.at(end)); ++end) {
    }
    FlagLetters letters{.on = in_.rest().substr(2, end - 2), .off = {}};
    if (in_.at(end) == '-') {
      const std::size_t from = ++end;
      for (; has(known, in_.at(end)); ++end) {
      }
      letters.off = in_.rest().substr(from, end - from);
    }
    if (end == 2 || (in_.at(end) != ':' && in_.at(end) != ')')) {
      return false;
    }
    if (has(letters.on, 'L') || has(letters.off, 'L')) {
      in_.refuse("the flag L", " is for bytes, and names are text");
    }
    if (has(letters.off, 'a') || has(letters.off, 'u') || (has(letters.on, 'a') && has(letters.on, 'u'))) {
      in_.refuse("flags a and u", ": one of them can be on, and none can be switched off");
    }
    if (in_.at(end) == ')' && letters.off.empty()) {
      if (!global_) {
        global_.emplace();
      }
      letters.apply_to(global_->flags);
      global_->native += native(letters.on);
    } else {
      if (in_.at(end) == ':') {
        outer_.push_back(flags_);
      }
      const std::string off = native(letters.off);
      out() += "(?" + native(letters.on) + (off.empty() ? "" : "-" + off) + in_.at(end);
    }
    letters.apply_to(flags_);
    in_.take(end + 1);
    return true;
  }

  PatternReader in_;
  Translation result_;
  PatternFlags flags_;
  std::vector<PatternFlags> outer_;  // of the enclosing groups
  std::optional<GlobalFlags> global_;
};

}  // namespace

Translation translate_pattern(std::string_view python) {
  Translator translator(python, {});
  translator.run();
  if (!translator.global_flags()) {
    return std::move(translator).take();
  }
  Translator again(python, *translator.global_flags());
  again.run();
  return std::move(again).take();
}

std::size_t Translation::python_offset(std::size_t offset) const {
  const auto mark = std::find_if(marks.begin(), marks.end(), [offset](const Mark& one) { return one.pcre2 >= offset; });
  return mark != marks.end() ? mark->python : marks.empty() ? 0 : marks.back().python;
}

}  // namespace smd::detail
