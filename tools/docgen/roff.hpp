// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::docgen {

/// Writes mdoc source without findings of `mandoc -Tlint`: one sentence per line, no line too long, no text mistaken
/// for a macro.
class Roff {
 public:
  /// Writes a line unchanged: `.Sh NAME`.
  void macro(std::string_view line);
  /// Writes paragraphs separated by blank lines. Options in them are bold.
  void prose(std::string_view text);
  /// Writes lines unchanged.
  void literal(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  void paragraph(std::string_view text);

  std::string text_;
};

/// Returns a word escaped for roff; hyphens become minus signs.
[[nodiscard]] std::string roff_word(std::string_view word);

/// Capitalises the first letter and adds a full stop, unless the text has one.
[[nodiscard]] std::string as_sentence(std::string_view text);

}  // namespace smd::docgen
