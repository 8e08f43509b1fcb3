// SPDX-License-Identifier: Apache-2.0
#include "text/json_reader.hpp"

#include "text/ascii.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace smd::text {

namespace {

/// Returns where a number of Python's is next that JSON does not have.
bool is_word(std::string_view text) noexcept { return text.starts_with("NaN") || text.starts_with("Infinity"); }

/// Replaces each half of a surrogate pair in a string in quotes by U+FFFD.
std::string without_half_pairs(std::string literal) {
  constexpr std::string_view hex = "0123456789abcdefABCDEF";
  const auto is_half = [&](std::size_t i, std::string_view second_digits) {
    return i + 6 < literal.size() && literal[i] == '\\' && literal[i + 1] == 'u' && (literal[i + 2] | 0x20) == 'd' &&
           second_digits.find(literal[i + 3]) != hex.npos && literal.find_first_not_of(hex, i + 4) >= i + 6;
  };
  for (std::size_t i = 0; i < literal.size(); i += literal[i] == '\\' ? 2 : 1) {
    if (is_half(i, "89abAB") && is_half(i + 6, "cdefCDEF")) {
      i += 6;
    } else if (is_half(i, hex.substr(8))) {
      literal.replace(i + 2, 4, "fffd");
    }
  }
  return literal;
}

}  // namespace

simdjson::error_code JsonReader::begin(std::string_view text, simdjson::ondemand::document& document) {
  text_ = text;
  replaced_.clear();
  unrepresentable_.reset();
  if (parser_.capacity() < text.size()) {
    constexpr std::size_t depth = limits::json_depth + 2;  // that of simdjson's own checks
    if (const auto why = parser_.allocate(std::max(text.size(), 2 * parser_.capacity()), depth)) {
      return why;
    }
  }
  return parser_
      .iterate(simdjson::padded_string_view(text.data(), text.size(), text.size() + simdjson::SIMDJSON_PADDING))
      .get(document);
}

const char* JsonReader::place(simdjson::ondemand::document& document) {
  const char* at = nullptr;
  return document.current_location().get(at) == simdjson::SUCCESS ? at : nullptr;
}

void JsonReader::ask_to_stop() {
  constexpr std::size_t between = 8192;
  if (++values_ % between == 0 && options_.stop != nullptr && *options_.stop && (*options_.stop)()) {
    leave();
  }
}

std::optional<std::string_view> JsonReader::plain(const char* begin) const noexcept {
  const std::size_t room = static_cast<std::size_t>(text_.data() + text_.size() - begin);
  const auto* const end = static_cast<const char*>(std::memchr(begin, '"', room));
  const std::string_view whole(begin, end == nullptr ? room : static_cast<std::size_t>(end - begin));
  return whole.find('\\') == whole.npos ? std::optional(whole) : std::nullopt;
}

std::string_view JsonReader::key(simdjson::ondemand::field& field) {
  const char* const begin = field.key().raw();
  const auto whole = plain(begin);
  return whole ? *whole : unescaped(begin, field.unescaped_key()).value_or(std::string_view());
}

std::optional<std::string_view> JsonReader::unescaped(const char* begin,
                                                      simdjson::simdjson_result<std::string_view> text) {
  if (!text.error()) {
    return text.value_unsafe();
  }
  std::size_t end = static_cast<std::size_t>(begin - text_.data());
  while (end < text_.size() && text_[end] != '"') {
    end += text_[end] == '\\' ? 2 : 1;
  }
  const std::string_view literal(begin - 1, static_cast<std::size_t>(text_.data() + end + 1 - (begin - 1)));
  JsonDocument<nlohmann::json> whole;
  if (options_.half_pairs == HalfPairs::refused || parse_json(without_half_pairs(std::string(literal)), whole)) {
    refuse(text.error());
  }
  note_unrepresentable(literal);
  return options_.half_pairs == HalfPairs::left_out
             ? std::nullopt
             : std::optional<std::string_view>(replaced_.emplace_back(whole->get<std::string>()));
}

void JsonReader::note_unrepresentable(std::string_view part) {
  if (!unrepresentable_) {
    unrepresentable_ = static_cast<std::uint64_t>(part.data() - text_.data());
  }
}

/// Reads what `read_json_number` refuses: numbers beyond the range of a double, and words.
JsonNumber JsonReader::other_number(std::string_view token) {
  if (const auto word = options_.non_finite ? non_finite_of(token) : std::nullopt) {
    return {*word, {}, {}};
  }
  JsonNumber number;
  std::uint64_t digits = 0;
  const char* const last = token.data() + token.size();
  const auto [end, range] = std::from_chars(token.data(), last, number.real);
  const char* const first_digit = token.data() + (token.starts_with('-') ? 1 : 0);
  if (end != last || range != std::errc::result_out_of_range ||
      read_json_digits(first_digit, last, digits) == nullptr) {
    refuse(simdjson::NUMBER_ERROR);
  }
  number.real = number_of(token).value_or(0);
  if (number.real != 0) {
    note_unrepresentable(token);
  }
  return number;
}

/// nlohmann's parser says where a text goes wrong, and why; but it does not know what only Python writes, and ends at a
/// number beyond a double.
JsonError JsonReader::error(simdjson::error_code why, const char* at) const {
  if (why == simdjson::MEMALLOC) {
    return {JsonFault::no_memory, 0, {}};
  }
  if (why == simdjson::UNEXPECTED_ERROR) {
    return {JsonFault::cut_off, text_.size(), {}};  // the reader left
  }
  const auto found = json_error(text_);
  const bool passed_over =
      found && (found->fault == JsonFault::number || (options_.non_finite && is_word(text_.substr(found->offset))));
  if (found && !passed_over) {
    return *found;
  }
  if (why == simdjson::DEPTH_ERROR) {
    return {JsonFault::too_deep, 0, {}};
  }
  if (!found && why != simdjson::TRAILING_CONTENT) {
    return {JsonFault::no_object, 0, {}};
  }
  if (at == nullptr || at >= text_.data() + text_.size() || why == simdjson::INCOMPLETE_ARRAY_OR_OBJECT) {
    return {JsonFault::cut_off, text_.size(), {}};
  }
  return {JsonFault::malformed, static_cast<std::uint64_t>(at - text_.data()), {}};
}

std::size_t JsonValue::offset() const noexcept {
  return static_cast<std::size_t>(token_.data() - reader_->text_.data());
}

bool JsonValue::is_number() const noexcept {
  const char first = token_.front();
  return text::is_digit(first) || first == '-' || (reader_->options_.non_finite && (first == 'N' || first == 'I'));
}

std::optional<std::string_view> JsonValue::text() {
  if (token_.front() != '"') {
    return std::nullopt;
  }
  taken_ = true;
  if (const auto whole = reader_->plain(token_.data() + 1)) {
    (void)value_.get_raw_json_string();  // simdjson takes a text for a key if it is left and ':' follows
    return whole;
  }
  return reader_->unescaped(token_.data() + 1, value_.get_string());
}

std::optional<JsonNumber> JsonValue::number() {
  if (!is_number()) {
    return std::nullopt;
  }
  taken_ = true;
  // simdjson 3.0.1 reads numbers of more than 19 digits wrong; it skips a number whose value is not requested.
  const std::string_view token = token_.substr(0, token_.find_last_not_of(" \t\n\r") + 1);
  const char* const last = token.data() + token.size();
  JsonNumber result;
  if (read_json_number(token.data(), last, result) != last) {
    return reader_->other_number(token);
  }
  if (!result.integer) {
    result.natural = parsed<std::uint64_t>(token);
  } else if (*result.integer >= 0) {
    result.natural = static_cast<std::uint64_t>(*result.integer);
  }
  return result;
}

std::optional<double> JsonValue::quoted_non_finite() {
  const auto word = text();
  return word ? quoted_non_finite_of(*word) : std::nullopt;
}

std::optional<std::int64_t> JsonValue::integer() {
  if (const std::optional<std::string_view> digits_in_text = text()) {
    return parsed<std::int64_t>(*digits_in_text);
  }
  const auto read = number();
  return read ? read->integer : std::nullopt;
}

std::optional<bool> JsonValue::boolean() {
  if (token_.front() != 't' && token_.front() != 'f') {
    return std::nullopt;
  }
  taken_ = true;
  return bool{value_.get_bool()};
}

void JsonValue::pass() {
  const auto nothing = [](auto&&...) {};
  if (taken_ || text() || number() || boolean() || items(nothing) || members(nothing)) {
    return;
  }
  if (!taken_ && !(is_null() && bool{value_.is_null()})) {  // a text with half a pair is taken, but not there
    JsonReader::refuse(simdjson::TAPE_ERROR);
  }
}

}  // namespace smd::text
