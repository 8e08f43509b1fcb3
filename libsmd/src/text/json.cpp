// SPDX-License-Identifier: Apache-2.0
#include "text/json.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace smd::text {

namespace {

using nlohmann::json;

/// Builds what nlohmann's parser finds, down to a maximum depth. `root`: null to check the text only.
template <class Json>
class JsonBuilder final : public nlohmann::json_sax<json> {
 public:
  JsonBuilder(std::string_view text, std::size_t depth, const NullMeaning& null_meaning, Json* root) noexcept
      : text_(text), depth_(depth), null_meaning_(null_meaning), root_(root) {}

  /// Reads the text to its end, or to the first error.
  [[nodiscard]] std::optional<JsonError> read() {
    json::sax_parse(text_.begin(), text_.end(), static_cast<nlohmann::json_sax<json>*>(this));
    return std::move(error_);
  }

  bool null() override {
    const std::optional<double> number = null_meaning_ ? null_meaning_() : std::nullopt;
    return number ? value(*number) : value(nullptr);
  }
  bool boolean(bool truth) override { return value(truth); }
  bool number_integer(std::int64_t number) override { return value(number); }
  bool number_unsigned(std::uint64_t number) override { return value(number); }
  bool number_float(double number, const std::string& /*text*/) override { return value(number); }
  bool string(std::string& text) override { return value(std::move(text)); }
  bool binary(json::binary_t& /*bytes*/) override { return false; }  // not in JSON text
  bool start_object(std::size_t /*size*/) override { return open(json::value_t::object); }
  bool key(std::string& name) override {
    if (root_ != nullptr) {
      member_ = &(*open_.back())[std::move(name)];
    }
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*size*/) override { return open(json::value_t::array); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    constexpr int number_overflow = 406;
    const std::size_t read = position == 0 ? 0 : position - 1;  // the parser counts the bytes that it has read
    if (error.id == number_overflow) {
      error_ = {JsonFault::number, read, excerpt(last_token)};
    } else if (read < text_.size()) {
      error_ = {JsonFault::malformed, read, {}};
    } else {
      error_ = {JsonFault::cut_off, text_.size(), {}};
    }
    return false;
  }

 private:
  template <class Value>
  bool value(Value&& found) {
    if (root_ != nullptr) {
      place() = std::forward<Value>(found);
    }
    return true;
  }
  bool open(json::value_t kind) {
    if (level_ == depth_) {
      error_ = {JsonFault::too_deep, 0, {}};
      return false;
    }
    ++level_;
    if (root_ != nullptr) {
      open_.push_back(&(place() = kind));
    }
    return true;
  }
  bool close() {
    --level_;
    if (root_ != nullptr) {
      open_.pop_back();
    }
    return true;
  }

  /// Returns where the next value goes. Only the innermost container grows, so those around it do not move.
  Json& place() {
    if (open_.empty()) {
      return *root_;
    }
    if (open_.back()->is_array()) {
      return open_.back()->emplace_back();
    }
    dismantle(*member_);  // replaces the value of a repeated key
    return *member_;
  }

  std::string_view text_;
  std::size_t depth_;
  const NullMeaning& null_meaning_;
  Json* root_;
  std::size_t level_ = 0;
  std::vector<Json*> open_;
  Json* member_ = nullptr;
  std::optional<JsonError> error_;
};

/// Appends a value as JSON until slightly more than `most` bytes are written.
template <class Json>
void append_json(std::string& out, const Json& value, std::size_t most) {
  if (out.size() > most) {
    return;
  }
  if (value.is_string()) {
    const auto& text = value.template get_ref<const std::string&>();
    out += json_string(beginning(text, most));
    if (text.size() > most) {
      out += "…";
    }
  } else if (value.is_structured()) {
    const bool object = value.is_object();
    out += object ? '{' : '[';
    bool first = true;
    for (auto item = value.begin(); item != value.end() && out.size() <= most; ++item) {
      out += std::exchange(first, false) ? "" : ",";
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

}  // namespace

template <class Json>
void dismantle(Json& value) noexcept {
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

std::optional<JsonError> json_error(std::string_view text) {
  return JsonBuilder<json>(text, limits::json_depth, {}, nullptr).read();
}

template <class Json>
std::optional<JsonError> parse_json(std::string_view text, JsonDocument<Json>& document, std::size_t depth,
                                    const NullMeaning& null_meaning) {
  return JsonBuilder<Json>(text, depth, null_meaning, &*document).read();
}

template <class Json>
std::string json_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string json_string(std::string_view text) { return json_text(json(text)); }

template <class Json>
std::string json_excerpt(const Json& value, std::size_t most) {
  std::string text;
  append_json(text, value, most);
  return text.size() <= most ? text : std::string(beginning(text, most)) + "…";
}

using nlohmann::ordered_json;
template void dismantle(json&) noexcept;
template void dismantle(ordered_json&) noexcept;
template std::optional<JsonError> parse_json(std::string_view, JsonDocument<json>&, std::size_t, const NullMeaning&);
template std::optional<JsonError> parse_json(std::string_view, JsonDocument<ordered_json>&, std::size_t,
                                             const NullMeaning&);
template std::string json_text(const json&);
template std::string json_text(const ordered_json&);
template std::string json_excerpt(const json&, std::size_t);
template std::string json_excerpt(const ordered_json&, std::size_t);

}  // namespace smd::text
