// SPDX-License-Identifier: Apache-2.0
#include "wire/flat_json.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace smd::detail::wire {

namespace {

constexpr std::string_view type_key = "_type";

}  // namespace

void FlatJson::clear() noexcept {
  values_.clear();
  text_.clear();
  numbers_.clear();
  dots_.clear();
  objects_ = 0;
}

void FlatJson::push_key(std::string_view key) {
  if (keys_++ != 0) {
    path_dots_.push_back(path_.size());
    path_.push_back('.');
  }
  path_.append(key);
}

void FlatJson::begin_path(std::span<const std::string_view> keys) {
  path_.clear();
  path_dots_.clear();
  keys_ = 0;
  for (const std::string_view key : keys) {
    push_key(key);
  }
  root_keys_ = keys_;
}

FlatJson::Value& FlatJson::begin_value(Kind kind) {
  Value& value = values_.emplace_back();
  value.kind = kind;
  value.in_object = keys_ > root_keys_ + 1;
  value.name = text_.size();
  value.name_bytes = path_.size();
  text_ += path_;
  value.dots = dots_.size();
  dots_.insert(dots_.end(), path_dots_.begin(), path_dots_.end());
  value.dots_end = dots_.size();
  return value;
}

bool FlatJson::add(std::span<const std::string_view> keys, std::string_view json) {
  const char* const end = json.data() + json.size();
  text::JsonNumber number;
  if (!json.empty() && text::read_json_number(json.data(), end, number) == end) {
    Value* value = nullptr;
    if (keys.size() == 1) {  // the usual case
      value = &values_.emplace_back();
      value->key = keys.front();
    } else {
      begin_path(keys);
      value = &begin_value(Kind::number);
    }
    value->kind = Kind::number;
    value->number = number.real;
    value->whole = number.integer;
    return true;
  }
  begin_path(keys);
  constexpr std::string_view before = R"({"":)";
  const std::size_t size = before.size() + json.size() + 1;
  std::byte* const data = buffer_.reserve(size);
  if (data == nullptr) {
    return false;
  }
  char* const characters = reinterpret_cast<char*>(data);
  before.copy(characters, before.size());
  json.copy(characters + before.size(), json.size());  // may be empty, and null
  data[size - 1] = std::byte{'}'};
  const std::span<const std::byte> text = buffer_.first(size);
  std::size_t members = 0;
  const auto error = reader_.read({reinterpret_cast<const char*>(text.data()), text.size()},
                                  [&](std::string_view /*key*/, text::JsonValue& value) {
                                    ++members;
                                    take(value);
                                  });
  return !error && members == 1;
}

bool FlatJson::add_object(std::string_view json) {
  const auto error = reader_.read(json, [&](std::string_view key, text::JsonValue& value) {
    begin_path({});
    push_key(key);
    if (value.is_object() && ++objects_ == 1) {
      object_key_ = key;
    }
    take(value);
  });
  return !error;
}

void FlatJson::take(text::JsonValue& json) {
  if (json.is_object()) {
    const std::size_t bytes = path_.size();
    const std::size_t dots = path_dots_.size();
    json.members([&](std::string_view key, text::JsonValue& member) {
      push_key(key);
      take(member);
      path_.resize(bytes);
      path_dots_.resize(dots);
      --keys_;
    });
  } else if (const auto number = json.number()) {
    Value& value = begin_value(Kind::number);
    value.number = number->real;
    value.whole = number->integer;
    value.at = json.offset();
  } else if (const auto text = json.text()) {
    const auto word = smd::text::quoted_non_finite_of(*text);
    Value& value = begin_value(word ? Kind::number : Kind::text);
    value.number = word.value_or(0);
    value.data = text_.size();
    value.data_size = text->size();
    text_ += *text;
  } else if (const auto truth = json.boolean()) {
    begin_value(Kind::number).number = *truth ? 1 : 0;
  } else if (json.is_null()) {
    begin_value(Kind::null);
  } else {
    take_array(json);
  }
}

void FlatJson::take_array(text::JsonValue& json) {
  const std::size_t first = numbers_.size();
  bool numbers = true;
  std::uint32_t nulls = 0;
  json.items([&](text::JsonValue& item) {
    if (const auto number = item.number()) {
      numbers_.push_back(number->real);
    } else if (const auto truth = item.boolean()) {
      numbers_.push_back(*truth ? 1 : 0);
    } else if (item.is_null()) {
      numbers_.push_back(std::numeric_limits<double>::quiet_NaN());
      ++nulls;
    } else {
      const auto word = item.quoted_non_finite();
      numbers = numbers && word;
      numbers_.push_back(word.value_or(0));
    }
  });
  numbers = numbers && numbers_.size() > first;
  Value& value = begin_value(numbers ? Kind::array : Kind::other);
  if (!numbers) {
    numbers_.resize(first);
  }
  value.nulls = numbers ? nulls : 0;
  value.data = first;
  value.data_size = numbers_.size() - first;
}

bool FlatJson::is_type(const Value& value) const noexcept {
  return value.kind == Kind::text && value.dots != value.dots_end && name(value).ends_with(type_key) &&
         dots_[value.dots_end - 1] + 1 + type_key.size() == value.name_bytes;
}

/// What stands below one `_type`.
struct FlatJson::Typed {
  Value type;
  std::optional<Value> values;
  std::optional<Value> bins;
  std::optional<double> min;
  std::optional<double> size;
  std::optional<double> count;  ///< Of bins.
};

void FlatJson::add_histogram(const Typed& typed) {
  const std::size_t count = typed.values && typed.values->kind == Kind::array ? typed.values->data_size : 0;
  const bool edges = typed.bins && typed.bins->kind == Kind::array && typed.bins->data_size == count + 1;
  const auto bins = static_cast<double>(count);
  const bool fits = edges || (typed.min && typed.size && typed.count.value_or(bins) == bins);
  Value value = typed.type;
  value.kind = Kind::histogram;
  value.name_bytes -= 1 + type_key.size();
  --value.dots_end;
  value.data = numbers_.size();
  value.data_size = fits ? 3 * count : 0;
  numbers_.reserve(numbers_.size() + value.data_size);
  const auto edge = [&](std::size_t i) {
    return edges ? numbers_[typed.bins->data + i] : *typed.min + static_cast<double>(i) * *typed.size;
  };
  for (std::size_t i = 0; i < value.data_size / 3; ++i) {
    numbers_.push_back(edge(i));
    numbers_.push_back(edge(i + 1));
    numbers_.push_back(numbers_[typed.values->data + i]);
  }
  values_.push_back(value);
}

std::size_t FlatJson::fold_typed() {
  if (std::ranges::none_of(values_, [&](const Value& value) { return is_type(value); })) {
    return 0;
  }
  std::map<std::string_view, Typed> all;  // by what stands before `._type`
  for (const Value& value : values_) {
    if (is_type(value)) {
      all[name(value).substr(0, value.name_bytes - 1 - type_key.size())].type = value;
    }
  }
  std::map<std::string_view, Typed*> outermost;
  std::vector<Value> rest;
  for (const Value& value : values_) {
    const std::string_view whole = name(value);
    Typed* typed = nullptr;
    std::string_view below;
    for (std::size_t i = value.dots; i != value.dots_end && typed == nullptr; ++i) {
      if (const auto found = all.find(whole.substr(0, dots_[i])); found != all.end()) {
        typed = &found->second;
        below = whole.substr(dots_[i] + 1);
        outermost.emplace(found->first, typed);
      }
    }
    if (typed == nullptr) {
      rest.push_back(value);
    } else if (below == "values") {
      typed->values = value;
    } else if (below == "bins") {
      typed->bins = value;
    } else if (value.kind == Kind::number && below == "packedBins.count") {
      typed->count = value.number;
    } else if (value.kind == Kind::number && (below == "packedBins.min" || below == "packedBins.size")) {
      (below.ends_with("min") ? typed->min : typed->size) = value.number;
    }
  }
  values_ = std::move(rest);
  std::size_t others = 0;
  for (const auto& [name, typed] : outermost) {
    if (text(typed->type) == "histogram") {
      add_histogram(*typed);
    } else {
      ++others;
    }
  }
  return others;
}

}  // namespace smd::detail::wire
