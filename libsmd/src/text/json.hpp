// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/escape.hpp"

#include <smd/limits.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Parses all JSON except what may be long (json_reader.hpp). No document is deeper than the requested limit, so
/// walking, printing and destroying one recurses no deeper.
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

enum class JsonContainer : std::uint8_t { object, array };

/// Forwards what nlohmann's parser finds to a sink, down to a maximum depth.
template <class Sink>
class JsonEvents {
 public:
  JsonEvents(Sink& sink, std::size_t text_bytes, std::size_t depth) noexcept
      : sink_(sink), text_bytes_(text_bytes), depth_(depth) {}

  bool null() { return value(nullptr); }
  bool boolean(bool truth) { return value(truth); }
  bool number_integer(std::int64_t number) { return value(number); }
  bool number_unsigned(std::uint64_t number) { return value(number); }
  bool number_float(double number, const std::string& /*text*/) { return value(number); }
  bool string(std::string& text) { return value(std::move(text)); }
  bool binary(nlohmann::json::binary_t& /*bytes*/) { return false; }  // not in JSON text
  bool start_object(std::size_t /*size*/) { return open(JsonContainer::object); }
  bool key(std::string& name) {
    sink_.key(std::move(name));
    return true;
  }
  bool end_object() { return close(); }
  bool start_array(std::size_t /*size*/) { return open(JsonContainer::array); }
  bool end_array() { return close(); }

  bool parse_error(std::size_t position, const std::string& last_token, const nlohmann::detail::exception& error) {
    constexpr int number_overflow = 406;
    const std::size_t read = position == 0 ? 0 : position - 1;  // the parser counts the bytes that it has read
    if (error.id == number_overflow) {
      error_ = {JsonFault::number, read, excerpt(last_token)};
    } else if (read < text_bytes_) {
      error_ = {JsonFault::malformed, read, {}};
    } else {
      error_ = {JsonFault::cut_off, text_bytes_, {}};
    }
    return false;
  }

  [[nodiscard]] std::optional<JsonError> take_error() && { return std::move(error_); }

 private:
  template <class Value>
  bool value(Value&& found) {
    sink_.value(std::forward<Value>(found));
    return true;
  }
  bool open(JsonContainer kind) {
    if (level_ == depth_) {
      error_ = {JsonFault::too_deep, 0, {}};
      return false;
    }
    ++level_;
    sink_.open(kind);
    return true;
  }
  bool close() {
    --level_;
    sink_.close();
    return true;
  }

  Sink& sink_;
  std::size_t text_bytes_;
  std::size_t depth_;
  std::size_t level_ = 0;
  std::optional<JsonError> error_;
};

/// Reads a text to its end. The sink receives `value(v)` (nullptr, bool, int64_t, uint64_t, double, string&&),
/// `key(string&&)`, `open(JsonContainer)` and `close()`, in the order of the text, up to the first error.
template <class Sink>
[[nodiscard]] std::optional<JsonError> read_json(std::string_view text, Sink& sink,
                                                 std::size_t depth = limits::json_depth) {
  JsonEvents<Sink> events(sink, text.size(), depth);
  nlohmann::json::sax_parse(text.begin(), text.end(), &events);
  return std::move(events).take_error();
}

/// Ignores everything: for checking whether a text is JSON.
struct NoJsonSink {
  template <class Value>
  void value(Value&& /*found*/) noexcept {}
  void key(std::string&& /*name*/) noexcept {}
  void open(JsonContainer /*kind*/) noexcept {}
  void close() noexcept {}
};

/// Owns a document. nlohmann's own destructor allocates memory, and ends the program if there is none; this one takes
/// the document apart from within and allocates nothing. Recurses by the document's depth.
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

  /// Leaves an empty container, or the scalar unchanged.
  static void dismantle(Json& value) noexcept {
    if (auto* const items = value.template get_ptr<typename Json::array_t*>()) {
      for (Json& item : *items) {
        dismantle(item);
      }
      items->clear();
    } else if (auto* const members = value.template get_ptr<typename Json::object_t*>()) {
      for (auto& member : *members) {
        dismantle(member.second);
      }
      members->clear();
    }
  }

 private:
  Json root_;
};

/// A sink that builds a document. If a key is repeated, the last value counts.
template <class Json>
class JsonBuilder {
 public:
  explicit JsonBuilder(JsonDocument<Json>& document) noexcept : root_(*document) {}

  template <class Value>
  void value(Value&& found) {
    place() = std::forward<Value>(found);
  }
  void key(std::string&& name) { member_ = &(*open_.back())[std::move(name)]; }
  void open(JsonContainer kind) {
    Json& container = place();
    container = kind == JsonContainer::object ? Json::value_t::object : Json::value_t::array;
    open_.push_back(&container);
  }
  void close() { open_.pop_back(); }

 private:
  /// Returns where the next value goes. Only the innermost container grows, so those around it do not move.
  Json& place() {
    if (open_.empty()) {
      return root_;
    }
    if (open_.back()->is_array()) {
      return open_.back()->emplace_back();
    }
    JsonDocument<Json>::dismantle(*member_);  // replaces the value of a repeated key
    return *member_;
  }

  Json& root_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;
};

/// Parses a text into `document`. Precondition: `document` is null.
template <class Json>
[[nodiscard]] std::optional<JsonError> parse_json(std::string_view text, JsonDocument<Json>& document,
                                                  std::size_t depth = limits::json_depth) {
  JsonBuilder<Json> builder(document);
  return read_json(text, builder, depth);
}

/// Appends a value as JSON until slightly more than `most` bytes are written.
template <class Json>
void append_json(std::string& out, const Json& value, std::size_t most) {
  if (out.size() > most) {
    return;
  }
  if (value.is_string()) {
    const auto& text = value.template get_ref<const std::string&>();
    out += Json(std::string(beginning(text, most))).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() > most) {
      out += "…";
    }
  } else if (value.is_structured()) {
    const bool object = value.is_object();
    out += object ? '{' : '[';
    bool first = true;
    for (auto item = value.begin(); item != value.end() && out.size() <= most; ++item) {
      out += first ? "" : ",";
      first = false;
      if (object) {
        append_json(out, Json(item.key()), most);
        out += ':';
      }
      append_json(out, *item, most);
    }
    out += object ? '}' : ']';
  } else {
    out += value.dump();
  }
}

/// Returns a value as JSON for a message, only its beginning if it is longer than `most` bytes. The cost depends only
/// on what is shown.
template <class Json>
[[nodiscard]] std::string json_excerpt(const Json& value, std::size_t most = quoted_bytes) {
  std::string text;
  append_json(text, value, most);
  return text.size() <= most ? text : std::string(beginning(text, most)) + "…";
}

}  // namespace smd::text
