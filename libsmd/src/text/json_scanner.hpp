// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/limits.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace smd::text {

enum class JsonKind : std::uint8_t { object, array, string, number, boolean, null, nothing };

/// A number, rounded to a double, and exact if it is a natural number.
struct JsonNumber {
  double real = 0;
  std::uint64_t natural = 0;
  bool is_natural = false;  ///< Written as a whole number from 0 to 2^64 - 1: `natural` is exact.
};

/// Returns the offset of the first byte that is not UTF-8, or the size of the text if all of it is.
[[nodiscard]] std::size_t first_bad_utf8(std::string_view text) noexcept;

/// Reads JSON text (RFC 8259) from front to back, one value at a time, and keeps nothing: for files of one known shape
/// that may be a hundred megabytes long. After the first error every call returns false. Precondition: UTF-8.
///
///     if (scanner.enter_object()) {
///       for (std::string_view key; scanner.next_member(key);) {
///         scanner.skip();  // or read it: each value exactly once
///       }
///     }
class JsonScanner {
 public:
  /// `non_finite`: `NaN`, `Infinity` and `-Infinity` are numbers, as Python writes them.
  explicit JsonScanner(std::string_view text, bool non_finite = false) noexcept
      : text_(text), non_finite_(non_finite) {}

  /// Returns the kind of the next value, by its first character.
  [[nodiscard]] JsonKind peek() noexcept;
  bool enter_object() { return enter('{', "expected an object"); }
  /// Advances to the next member, whose value comes next. Returns false at the end of the object, which is then left.
  /// `key` is valid until the next string is read.
  bool next_member(std::string_view& key);
  bool enter_array() { return enter('[', "expected an array"); }
  /// Advances to the next item. Returns false at the end of the array, which is then left.
  bool next_item();
  /// `value` is valid until the next string is read.
  bool string(std::string_view& value);
  /// Returns whether a string that was read is a part of the text; otherwise it had escapes.
  [[nodiscard]] bool stands_in_text(std::string_view value) const noexcept { return value.data() != unescaped_.data(); }
  bool number(JsonNumber& value);
  /// Continues at an offset, after a value that the caller has read by itself.
  void move_to(std::size_t offset) noexcept { at_ = offset; }
  /// Skips a value of any kind.
  bool skip();
  /// Checks that only white space follows the outermost value.
  bool finish();

  [[nodiscard]] bool failed() const noexcept { return error_ != nullptr; }
  /// Returns the offset of the error; without an error, that of the next character.
  [[nodiscard]] std::size_t offset() const noexcept { return at_; }
  /// Precondition: failed.
  [[nodiscard]] const char* error() const noexcept { return error_; }

 private:
  bool fail(const char* why) noexcept;
  /// Skips white space and returns the next character; NUL at the end.
  [[nodiscard]] char after_space() noexcept {
    return at_ < text_.size() && text_[at_] > ' ' ? text_[at_] : after_some_space();
  }
  [[nodiscard]] char after_some_space() noexcept;
  bool enter(char bracket, const char* why);
  void leave() noexcept;
  bool next(char bracket, const char* why);
  bool word(std::string_view word) noexcept;
  std::optional<double> non_finite_word() noexcept;
  bool short_natural(std::uint64_t& value) noexcept;
  bool skip_simple(JsonKind kind);
  bool unescape(std::size_t begin);
  bool unescape_character();
  bool code_unit(std::uint32_t& unit) noexcept;

  std::string_view text_;
  bool non_finite_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool fresh_ = false;  ///< A bracket was just opened: no comma comes.
  std::string unescaped_;
  const char* error_ = nullptr;
};

}  // namespace smd::text
