// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/buffer.hpp"
#include "text/json_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::wire {

/// The values of some JSON texts, flat: a member of an object has the path of keys to it, joined by dots, as its name.
/// `NaN`, `Infinity` and `-Infinity` are numbers, bare and in quotes, and in quotes also as `nan` and `inf` in any
/// case; true and false are 1 and 0. Half a surrogate pair is U+FFFD.
class FlatJson {
 public:
  enum class Kind : std::uint8_t {
    number,
    null,
    text,
    array,      ///< Of numbers; null in it is NaN.
    histogram,  ///< Left edge, right edge and count of each bin; nothing if bins and counts do not fit.
    other,      ///< Any other array, and an empty one.
  };
  struct Value {
    Kind kind = Kind::other;
    bool in_object = false;                  ///< It stands in an object that is a member of the outermost one.
    std::uint32_t nulls = 0;                 ///< In an array.
    std::optional<std::int64_t> whole = {};  ///< Of a number that is written without point and exponent.
    double number = 0;
    std::string_view key = {};  ///< The name, if nothing is held of it: it is borrowed from who added the value.
    std::size_t at = 0;         ///< Of a number that `add_object` found: its offset in the text.
    // Positions in what this object holds:
    std::size_t name = 0;
    std::size_t name_bytes = 0;
    std::size_t dots = 0;  ///< The dots between keys: of the value the first, and the end.
    std::size_t dots_end = 0;
    std::size_t data = 0;  ///< Of a text its bytes, of arrays and histograms the numbers.
    std::size_t data_size = 0;
  };

  FlatJson() : reader_({.non_finite = true, .half_pairs = text::JsonReader::HalfPairs::replaced}) {}

  void clear() noexcept;
  /// Adds the value with the path `keys`, or, of an object, its members. Returns false if the text is no JSON. The
  /// bytes of the keys must stay until `clear`.
  [[nodiscard]] bool add(std::span<const std::string_view> keys, std::string_view json);
  /// Adds the members of an object. Returns false if the text is none. Precondition: `Buffer::padding` more bytes may
  /// be read after it.
  [[nodiscard]] bool add_object(std::string_view json);
  /// Makes histograms of the values below a `_type` of that name, and removes what stands below any other `_type`.
  /// Returns how many of these there were.
  std::size_t fold_typed();

  [[nodiscard]] const std::vector<Value>& values() const noexcept { return values_; }
  [[nodiscard]] std::string_view name(const Value& value) const noexcept {
    return value.key.data() != nullptr ? value.key : std::string_view(text_).substr(value.name, value.name_bytes);
  }
  [[nodiscard]] std::string_view text(const Value& value) const noexcept {
    return std::string_view(text_).substr(value.data, value.data_size);
  }
  [[nodiscard]] std::span<const double> numbers(const Value& value) const noexcept {
    return std::span(numbers_).subspan(value.data, value.data_size);
  }
  /// After `add_object`: the key of the only member that is an object; nullopt if none is, or several are.
  [[nodiscard]] std::optional<std::string_view> only_object() const noexcept {
    return objects_ == 1 ? std::optional<std::string_view>(object_key_) : std::nullopt;
  }

 private:
  struct Typed;

  void take(text::JsonValue& json);
  void take_array(text::JsonValue& json);
  Value& begin_value(Kind kind);
  void begin_path(std::span<const std::string_view> keys);
  void push_key(std::string_view key);
  [[nodiscard]] bool is_type(const Value& value) const noexcept;
  void add_histogram(const Typed& typed);

  text::JsonReader reader_;
  Buffer buffer_;
  std::vector<Value> values_;
  std::string text_;
  std::vector<double> numbers_;
  std::vector<std::size_t> dots_;  ///< Positions in the name.
  // Of what is read:
  std::string path_;
  std::vector<std::size_t> path_dots_;
  std::size_t keys_ = 0;
  std::size_t root_keys_ = 0;  ///< Of the outermost object.
  std::size_t objects_ = 0;
  std::string object_key_;
};

}  // namespace smd::detail::wire
