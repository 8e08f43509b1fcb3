// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/escape.hpp"
#include "text/limits.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

/// Parses and prints all JSON except what may be long (json_reader.hpp). No document is deeper than the requested
/// limit, so walking, printing and destroying one recurses no deeper. The functions are there for `nlohmann::json` and
/// `nlohmann::ordered_json`; who looks into a document includes <nlohmann/json.hpp>.
namespace smd::text {

enum class JsonFault : std::uint8_t {
  malformed,  ///< Not JSON at `offset`.
  cut_off,    ///< The text ends inside the document.
  too_deep,   ///< Too many nested objects and arrays; `offset` is not known.
  number,     ///< `number` is out of double's range.
  no_object,  ///< Valid, but not an object. This and the next only of `JsonReader`.
  no_memory,
};

/// Why a text was refused.
struct JsonError {
  JsonFault fault = JsonFault::malformed;
  std::uint64_t offset = 0;
  std::string number;
};

/// Empties the containers of a value, from within; a scalar stays. Recurses by the value's depth.
template <class Json>
void dismantle(Json& value) noexcept;

/// Owns a document, and destroys it without allocating memory. nlohmann's destructor allocates, and ends the program if
/// that fails.
template <class Json>
class JsonDocument {
 public:
  JsonDocument() noexcept(false) = default;  // nlohmann declares none, although its constructor may allocate
  explicit JsonDocument(Json&& root) : root_(std::move(root)) {}
  JsonDocument(JsonDocument&& other) noexcept : root_(std::move(other.root_)) {}
  JsonDocument& operator=(JsonDocument&& other) noexcept {
    std::swap(root_, other.root_);
    return *this;
  }
  ~JsonDocument() { dismantle(root_); }

  [[nodiscard]] Json& operator*() noexcept { return root_; }
  [[nodiscard]] const Json& operator*() const noexcept { return root_; }
  [[nodiscard]] Json* operator->() noexcept { return &root_; }
  [[nodiscard]] const Json* operator->() const noexcept { return &root_; }

 private:
  Json root_;
};

/// Returns why a text is not JSON, or nullopt if it is.
[[nodiscard]] std::optional<JsonError> json_error(std::string_view text);

/// Is called for each `null` of a text, in order. Returns the number that it stands for, or nullopt for a `null`.
using NullMeaning = std::function<std::optional<double>()>;

/// Parses a text into `document`, up to the first error. If a key is repeated, the last value counts. Precondition:
/// `document` is null.
template <class Json>
[[nodiscard]] std::optional<JsonError> parse_json(std::string_view text, JsonDocument<Json>& document,
                                                  std::size_t depth = limits::json_depth,
                                                  const NullMeaning& null_meaning = {});

/// Returns a value as JSON in one line. What is not UTF-8 in its texts is replaced.
template <class Json>
[[nodiscard]] std::string json_text(const Json& value);

/// Returns the text of an object's member; empty if there is no such member, or if it is not a text.
template <class Json>
[[nodiscard]] std::string member_text(const Json& object, const char* name) {
  const auto member = object.find(name);
  return member != object.end() && member->is_string() ? member->template get<std::string>() : std::string();
}

/// Returns a text as a JSON string.
[[nodiscard]] std::string json_string(std::string_view text);

/// Returns a value as JSON for a message, only its beginning if it is longer than `most` bytes. The cost depends only
/// on what is shown.
template <class Json>
[[nodiscard]] std::string json_excerpt(const Json& value, std::size_t most = quoted_bytes);

}  // namespace smd::text
