// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/json.hpp"
#include "text/number.hpp"

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Reads what may be long: index and collections files, headers, indexes and logs of checkpoints. simdjson finds the
/// values, which are read in the order of the text and kept nowhere: ten times as fast as nlohmann's parser, which
/// reads all other JSON (json.hpp). simdjson passes over what nobody asks for without a look; here it is checked, too.
/// Benchmark: measurements.py, `smd-ls, no two index files alike`.
namespace smd::text {

class JsonReader;

/// One value of a text. What is asked for as another type than it has is not read: nullopt or false.
class JsonValue {
 public:
  /// Returns the offset of the value's first byte.
  [[nodiscard]] std::size_t offset() const noexcept;
  [[nodiscard]] bool is_object() const noexcept { return token_.front() == '{'; }
  [[nodiscard]] bool is_number() const noexcept;
  [[nodiscard]] bool is_null() const noexcept { return token_.front() == 'n'; }
  /// Calls `take(key, value)` for each member: `std::string_view`, valid as long as `text`'s, and `JsonValue&`.
  template <class Take>
  bool members(Take take);
  /// Calls `take(value)` for each item of an array.
  template <class Take>
  bool items(Take take);
  /// Valid until the reader reads another text. If it has no escapes, it is a part of the text.
  std::optional<std::string_view> text();
  std::optional<JsonNumber> number();
  /// Returns what a text stands for, as text::quoted_non_finite_of.
  std::optional<double> quoted_non_finite();
  /// Returns a whole number of 64 bits, also one that is written as a text, as the reference accepts it.
  std::optional<std::int64_t> integer();
  std::optional<bool> boolean();
  /// Checks a value that is not read.
  void pass();

 private:
  friend class JsonReader;
  JsonValue(JsonReader& reader, simdjson::ondemand::value value, std::size_t depth) noexcept
      : reader_(&reader), value_(value), token_(value_.raw_json_token()), depth_(depth) {}

  /// Takes an object or an array, which begins with that bracket. Returns false for any other value.
  bool enter(char bracket);

  JsonReader* reader_;
  simdjson::ondemand::value value_;
  std::string_view token_;  // up to the next bracket, comma, colon or value
  std::size_t depth_;       // number of containers around it
  bool taken_ = false;
};

/// Reads texts whose outermost value is an object. Not safe for concurrent use.
class JsonReader {
 public:
  enum class HalfPairs : std::uint8_t {
    refused,
    left_out,  ///< Half a surrogate pair costs only the text that has it: a key is then empty, a value nullopt.
    replaced,  ///< Each half is U+FFFD.
  };
  struct Options {
    bool non_finite = false;  ///< `NaN`, `Infinity` and `-Infinity` are numbers, as Python writes them.
    HalfPairs half_pairs = HalfPairs::refused;
    const std::function<bool()>* stop = nullptr;  ///< Called now and then; true ends the reading.
  };

  JsonReader() = default;
  explicit JsonReader(Options options) noexcept : options_(options) {}

  /// Calls `take(key, value)` for each member, as JsonValue::members. Members before an error were taken; the caller
  /// discards what it made of them. Precondition: simdjson::SIMDJSON_PADDING more bytes may be read after `text`.
  template <class Take>
  [[nodiscard]] std::optional<JsonError> read(std::string_view text, Take take);

  /// Ends the reading, from within a `take`: `read` then returns an error that says nothing.
  [[noreturn]] static void leave() { refuse(simdjson::UNEXPECTED_ERROR); }
  /// Returns the offset of the first half of a surrogate pair, or number beyond a double, that was read; nullopt if
  /// all of the text can be represented.
  [[nodiscard]] const std::optional<std::uint64_t>& unrepresentable() const noexcept { return unrepresentable_; }
  /// Returns whether a text is a part of the one that is read; otherwise it had escapes.
  [[nodiscard]] bool stands_in_text(std::string_view part) const noexcept {
    return part.data() >= text_.data() && part.data() <= text_.data() + text_.size();
  }

 private:
  friend class JsonValue;
  template <class Take>
  void members(simdjson::ondemand::object object, std::size_t depth, Take& take);
  [[nodiscard]] simdjson::error_code begin(std::string_view text, simdjson::ondemand::document& document);
  [[noreturn]] static void refuse(simdjson::error_code why) { throw simdjson::simdjson_error(why); }
  /// Returns where simdjson is; null at the end of the text.
  [[nodiscard]] static const char* place(simdjson::ondemand::document& document);
  void ask_to_stop();
  std::string_view key(simdjson::ondemand::field& field);
  /// Returns a string that begins at `begin` if it has no escapes.
  [[nodiscard]] std::optional<std::string_view> plain(const char* begin) const noexcept;
  std::optional<std::string_view> unescaped(const char* begin, simdjson::simdjson_result<std::string_view> text);
  JsonNumber other_number(std::string_view token);
  void note_unrepresentable(std::string_view part);
  /// `at`: where simdjson stopped; null: at the end, or that is not known.
  [[nodiscard]] JsonError error(simdjson::error_code why, const char* at) const;

  Options options_;
  simdjson::ondemand::parser parser_;
  std::string_view text_;
  std::deque<std::string> replaced_;  ///< Texts in which halves of surrogate pairs were replaced.
  std::optional<std::uint64_t> unrepresentable_;
  std::size_t values_ = 0;
};

template <class Take>
void JsonReader::members(simdjson::ondemand::object object, std::size_t depth, Take& take) {
  for (auto next : object) {
    simdjson::ondemand::field field = std::move(next).take_value();
    const std::string_view name = key(field);
    JsonValue value(*this, field.value(), depth);
    take(name, value);
    value.pass();
    ask_to_stop();
  }
}

template <class Take>
std::optional<JsonError> JsonReader::read(std::string_view text, Take take) {
  simdjson::ondemand::document document;
  if (const auto why = begin(text, document)) {
    return error(why, nullptr);
  }
  try {
    members(document.get_object(), 1, take);
  } catch (const simdjson::simdjson_error& failure) {
    return error(failure.error(), place(document));
  }
  const char* const more = place(document);
  return more != nullptr ? std::optional(error(simdjson::TRAILING_CONTENT, more)) : std::nullopt;
}

inline bool JsonValue::enter(char bracket) {
  if (token_.front() != bracket) {
    return false;
  }
  if (depth_ == limits::json_depth) {
    JsonReader::refuse(simdjson::DEPTH_ERROR);
  }
  taken_ = true;
  return true;
}

template <class Take>
bool JsonValue::members(Take take) {
  if (!enter('{')) {
    return false;
  }
  reader_->members(value_.get_object(), depth_ + 1, take);
  return true;
}

template <class Take>
bool JsonValue::items(Take take) {
  if (!enter('[')) {
    return false;
  }
  simdjson::ondemand::array array = value_.get_array();
  for (auto next : array) {
    JsonValue value(*reader_, next.value(), depth_ + 1);
    take(value);
    value.pass();
    reader_->ask_to_stop();
  }
  return true;
}

}  // namespace smd::text
