// SPDX-License-Identifier: Apache-2.0
#include "json_text.hpp"

#include <smd/limits.hpp>

#include "cli/exit_status.hpp"
#include "cli/text.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace smd::tool::save {

namespace {

using nlohmann::json;

/// The object, a list for each dimension, and the list of a complex number's two parts.
constexpr std::size_t deepest = limits::dimensions + 2;

/// JSON with `null` in place of Python's constants, and a list of these nulls.
struct StandardText {
  struct Constant {
    std::size_t null;  ///< Its place among all nulls.
    double value;
  };

  std::string text;
  std::vector<Constant> constants;
  std::vector<std::size_t>
      longer_from;  ///< From each of these bytes on, the text is one byte longer: `null` for `NaN`.

  [[nodiscard]] std::size_t original(std::size_t byte) const {
    const auto before = std::upper_bound(longer_from.begin(), longer_from.end(), byte);
    return byte - static_cast<std::size_t>(before - longer_from.begin());
  }
};

bool in_word(char c) noexcept { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

StandardText standard_text(std::string_view python) {
  StandardText result;
  std::string& out = result.text;
  out.reserve(python.size() + 16);
  std::size_t nulls = 0;
  bool in_string = false;
  while (!python.empty()) {
    std::size_t bytes = 1;
    if (in_string && python.front() == '\\') {
      bytes = std::min<std::size_t>(2, python.size());
    } else if (python.front() == '"') {
      in_string = !in_string;
    } else if (!in_string && in_word(python.front())) {
      bytes = static_cast<std::size_t>(std::find_if_not(python.begin(), python.end(), in_word) - python.begin());
    }
    const std::string_view word = python.substr(0, bytes);
    python.remove_prefix(bytes);
    if (word == "NaN") {
      result.constants.push_back({nulls++, std::numeric_limits<double>::quiet_NaN()});
      out += "null";
      result.longer_from.push_back(out.size());
    } else if (word == "Infinity") {
      const bool negative = out.ends_with('-');
      result.constants.push_back({nulls++, (negative ? -1 : 1) * std::numeric_limits<double>::infinity()});
      out.resize(out.size() - (negative ? 1 : 0));
      out += negative ? "null     " : "null    ";
    } else {
      nulls += word == "null" ? 1 : 0;
      out += word;
    }
  }
  return result;
}

/// Builds a document with the constants in their places.
class Builder {
 public:
  /// `standard`: null if there are no constants.
  Builder(text::JsonDocument<json>& document, const StandardText* standard)
      : document_(document), standard_(standard) {}

  void value(std::nullptr_t) {
    const std::size_t place = nulls_++;
    if (standard_ != nullptr && next_constant_ < standard_->constants.size() &&
        standard_->constants[next_constant_].null == place) {
      document_.value(standard_->constants[next_constant_++].value);
    } else {
      document_.value(nullptr);
    }
  }
  template <class Value>
  void value(Value&& found) {
    document_.value(std::forward<Value>(found));
  }
  void key(std::string&& name) { document_.key(std::move(name)); }
  void open(text::JsonContainer kind) { document_.open(kind); }
  void close() { document_.close(); }

 private:
  text::JsonBuilder<json> document_;
  const StandardText* standard_;
  std::size_t nulls_ = 0;
  std::size_t next_constant_ = 0;
};

[[noreturn]] void refuse(const text::JsonError& error, const StandardText* standard) {
  switch (error.fault) {
    case text::JsonFault::too_deep:
      throw InvalidValue("nested deeper than an array of " + std::to_string(limits::dimensions) + " dimensions can be");
    case text::JsonFault::number:
      throw InvalidValue(single_quoted(error.number) + " is beyond what a float64 can hold");
    case text::JsonFault::cut_off:
      throw InvalidValue("invalid JSON: it ends too soon");
    case text::JsonFault::malformed:
    case text::JsonFault::no_object:
    case text::JsonFault::no_memory:
      break;
  }
  const auto byte = static_cast<std::size_t>(error.offset);
  throw InvalidValue("invalid JSON at byte " + std::to_string(standard == nullptr ? byte : standard->original(byte)));
}

text::JsonDocument<json> built(std::string_view text, const StandardText* standard) {
  text::JsonDocument<json> document;
  Builder builder(document, standard);
  if (const auto error = text::read_json(text, builder, deepest)) {
    refuse(*error, standard);
  }
  return document;
}

}  // namespace

text::JsonDocument<json> parse_json(std::string_view text) {
  if (text.find("NaN") == text.npos && text.find("Infinity") == text.npos) {
    return built(text, nullptr);
  }
  const StandardText standard = standard_text(text);
  return built(standard.text, &standard);
}

}  // namespace smd::tool::save
