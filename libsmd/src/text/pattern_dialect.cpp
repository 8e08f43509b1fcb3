// SPDX-License-Identifier: Apache-2.0
#include "text/pattern_dialect.hpp"

#include <algorithm>

namespace smd::detail {

namespace {

class Translator {
 public:
  explicit Translator(std::string_view python) : rest_(python), size_(python.size()) {}

  Translation translate() && {
    flags();
    while (!rest_.empty()) {
      if (rest_[0] == '\\') {
        escape();
      } else if (in_class_) {
        in_class_ = rest_[0] != ']';
        put(rest_.substr(0, 1), 1);
      } else if (rest_[0] == '[') {
        open_class();
      } else if (is_open_quantifier()) {
        put("{0", 1);
      } else {
        put(rest_.substr(0, 1), 1);
      }
    }
    result_.python.push_back(size_);
    return std::move(result_);
  }

 private:
  /// Writes `text` for the next `bytes` of the Python pattern.
  void put(std::string_view text, std::size_t bytes) {
    result_.pcre2 += text;
    result_.python.resize(result_.pcre2.size(), size_ - rest_.size());
    rest_.remove_prefix(std::min(bytes, rest_.size()));
  }

  /// Global flags, if the pattern begins with them.
  void flags() {
    const std::size_t end = rest_.starts_with("(?") ? rest_.find_first_not_of("aimsux", 2) : rest_.npos;
    if (end == rest_.npos || rest_[end] != ')') {
      return;
    }
    const std::string_view letters = rest_.substr(2, end - 2);
    result_.ascii = letters.find('a') != letters.npos;
    if (result_.ascii && letters.find('u') != letters.npos) {
      return;  // not valid; PCRE2 says so
    }
    std::string known(letters);
    std::erase_if(known, [](char letter) { return letter == 'a' || letter == 'u'; });
    put("(?" + known + ")", end + 1);
  }

  void escape() {
    const char kind = rest_.size() > 1 ? rest_[1] : '\0';
    const std::size_t digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    const std::string_view hex = rest_.substr(std::min<std::size_t>(2, rest_.size()), digits);
    if (digits != 0 && hex.size() == digits && hex.find_first_not_of("0123456789abcdefABCDEF") == hex.npos) {
      put("\\x{" + std::string(hex) + "}", 2 + digits);
    } else if (kind == 'Z' && !in_class_) {
      put("\\z", 2);
    } else if (kind == 'v') {
      put("\\x0b", 2);
    } else {
      put(rest_.substr(0, 2), 2);
    }
  }

  /// A bracket in first place is a member.
  void open_class() {
    in_class_ = true;
    const std::size_t opening = rest_.starts_with("[^") ? 2 : 1;
    put(rest_.substr(0, opening), opening);
    if (rest_.starts_with("]")) {
      put("]", 1);
    }
  }

  /// Returns whether `{,n}` or `{,}` is next.
  [[nodiscard]] bool is_open_quantifier() const noexcept {
    const std::size_t end = rest_.starts_with("{,") ? rest_.find_first_not_of("0123456789", 2) : rest_.npos;
    return end != rest_.npos && rest_[end] == '}';
  }

  std::string_view rest_;
  std::size_t size_;
  bool in_class_ = false;
  Translation result_;
};

}  // namespace

Translation translate_pattern(std::string_view python) { return Translator(python).translate(); }

}  // namespace smd::detail
