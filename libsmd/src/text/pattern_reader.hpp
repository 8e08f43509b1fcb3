// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/pattern_dialect.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail {

/// Reads the text of a Python pattern from the front.
class PatternReader {
 public:
  explicit PatternReader(std::string_view python) : python_(python), rest_(python) {}

  [[nodiscard]] bool done() const noexcept { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }
  /// Returns the byte at distance `i`; 0 after the end.
  [[nodiscard]] char at(std::size_t i) const noexcept { return i < rest_.size() ? rest_[i] : '\0'; }
  [[nodiscard]] std::size_t place() const noexcept { return python_.size() - rest_.size(); }
  /// Reads bytes; fewer if the text ends.
  std::string_view take(std::size_t bytes) noexcept;

  /// Throws a Translation::Refusal for the next item: `text`, the place, `advice`.
  [[noreturn]] void refuse(std::string text, std::string advice = {}) const;

  /// Reads a character.
  std::uint32_t character();
  /// Reads an escape that denotes a character, if one is next. In a class all numbers are characters.
  std::optional<std::uint32_t> escaped_character(bool in_class);

 private:
  [[nodiscard]] bool hex_follow(std::size_t from, std::size_t digits) const noexcept;
  std::uint32_t number(std::size_t from, std::size_t digits, int base);

  std::string_view python_;
  std::string_view rest_;
};

}  // namespace smd::detail
