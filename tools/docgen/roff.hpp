// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace smd::docgen {

/// Writes mdoc source that `mandoc -Tlint` has nothing to say about: one sentence a line, no line too long, nothing in
/// the text taken for a macro.
class Roff {
 public:
  /// A line as it is: `.Sh NAME`.
  void macro(std::string_view line);
  /// Paragraphs parted by blank lines. Options in it come out bold.
  void prose(std::string_view text);
  /// Lines shown as they are.
  void literal(std::string_view text);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  void paragraph(std::string_view text);

  std::string text_;
};

/// A word that nothing in it gives a meaning to roff; hyphens become the minus signs of options.
[[nodiscard]] std::string roff_word(std::string_view word);

/// First letter made a capital, full stop added, unless the text has its own.
[[nodiscard]] std::string as_sentence(std::string_view text);

}  // namespace smd::docgen
