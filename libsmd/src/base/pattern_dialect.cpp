// SPDX-License-Identifier: Apache-2.0
#include "base/pattern_dialect.hpp"

#include <algorithm>

namespace smd::detail {

namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_hex(char c) noexcept { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/// Takes a pattern piece by piece.
class Rewriter {
 public:
  explicit Rewriter(std::string_view python) : rest_(python) {}

  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
  [[nodiscard]] const std::string& output() const noexcept { return out_; }

  void step() {
    if (rest_.starts_with('\\')) {
      escape();
    } else if (in_class_) {
      in_class_ = !rest_.starts_with(']');
      if (rest_.starts_with('[')) {
        out_.push_back('\\');
      }
      copy(1);
    } else if (rest_.starts_with('[')) {
      in_class_ = true;
      copy(rest_.starts_with("[^") ? 2 : 1);
      if (rest_.starts_with(']')) {  // a member, as it stands first
        copy(1);
      }
    } else if (rest_.starts_with("{,") && is_open_quantifier()) {
      out_.append("{0");
      rest_.remove_prefix(1);
    } else {
      copy(1);
    }
  }

 private:
  void copy(std::size_t bytes) {
    out_.append(rest_.substr(0, bytes));
    rest_.remove_prefix(std::min(bytes, rest_.size()));
  }

  void escape() {
    const char kind = rest_.size() > 1 ? rest_[1] : '\0';
    const std::size_t digits = kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
    if (kind == 'Z' && !in_class_) {
      out_.append("\\z");
      rest_.remove_prefix(2);
    } else if (digits != 0 && rest_.size() >= 2 + digits &&
               std::all_of(rest_.begin() + 2, rest_.begin() + 2 + static_cast<std::ptrdiff_t>(digits), is_hex)) {
      out_.append("\\x{").append(rest_.substr(2, digits)).push_back('}');
      rest_.remove_prefix(2 + digits);
    } else {
      copy(2);
    }
  }

  /// `{,}` or `{,12}`: no lower bound means 0.
  [[nodiscard]] bool is_open_quantifier() const noexcept {
    const auto end = std::find_if_not(rest_.begin() + 2, rest_.end(), is_digit);
    return end != rest_.end() && *end == '}';
  }

  std::string_view rest_;
  std::string out_;
  bool in_class_ = false;
};

}  // namespace

std::string to_pcre2(std::string_view python) {
  Rewriter rewriter(python);
  while (!rewriter.done()) {
    rewriter.step();
  }
  return rewriter.output();
}

std::size_t python_offset(std::string_view python, std::size_t offset) {
  Rewriter rewriter(python);
  while (!rewriter.done() && rewriter.output().size() < offset) {
    rewriter.step();
  }
  return python.size() - rewriter.rest().size();
}

}  // namespace smd::detail
