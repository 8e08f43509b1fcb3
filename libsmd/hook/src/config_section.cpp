// SPDX-License-Identifier: Apache-2.0
#include "config_section.hpp"

#include <smd/error.hpp>

#include "text/escape.hpp"
#include "text/json.hpp"
#include "text/mapped.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/trim.hpp"
#include "types/refuse.hpp"

#include <algorithm>
#include <cstdlib>

namespace smd::detail::hook {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> step_keys = {"save_interval", "save_steps", "start_step", "end_step"};

bool is_step_key(std::string_view key) {
  const std::size_t end = key.find('.') + 1;  // past the dot; npos + 1 is 0: no prefix
  const std::string_view prefix = key.substr(0, end);
  const std::string_view rest = key.substr(end);
  return (prefix.empty() ||
          std::ranges::any_of(mode_prefixes, [&](const auto& known) { return known.second == prefix; })) &&
         contains(step_keys, rest);
}

std::string shown(const json& value) { return printable(text::json_excerpt(value)); }

}  // namespace

HookConfig default_config(Framework framework) {
  HookConfig config{.framework = framework};
  if (framework == Framework::xgboost) {
    config.save_config = SaveConfigMode{.save_interval = 10};
  }
  return config;
}

bool in_sagemaker() noexcept { return std::getenv("TRAINING_JOB_NAME") != nullptr; }

Section::Section(const json& object, std::string where) : object_(object), where_(std::move(where)) {
  detail::refuse_if(!object_.is_object(), where_ + ": not a JSON object");
}

void Section::check_keys(Keys keys, bool steps) const {
  for (const auto& [key, value] : object_.items()) {
    if (value.is_null() || contains(keys, key) || (steps && is_step_key(key))) {
      continue;
    }
    std::vector<std::string> known(keys.begin(), keys.end());
    for (const std::string_view step_key : steps ? std::span(step_keys) : std::span<const std::string_view>()) {
      known.emplace_back(step_key);
      for (const auto& [mode, prefix] : mode_prefixes) {
        known.push_back(std::string(prefix) + std::string(step_key));
      }
    }
    throw InvalidArgument(where_ + ": unknown key " + in_quotes(key) + did_you_mean(nearest(key, known, 1)));
  }
}

bool Section::has_steps() const {
  return std::ranges::any_of(object_.get_ref<const json::object_t&>(),
                             [](const auto& member) { return is_step_key(member.first) && !member.second.is_null(); });
}

const json* Section::find(const std::string& key) const {
  const auto at = object_.find(key);
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

template <class Read>
auto Section::read(const std::string& key, Read&& read_value) const {
  const json* const value = find(key);
  return value == nullptr ? std::nullopt : std::optional(read_value(*value));
}

std::optional<std::string> Section::text(const std::string& key) const {
  return read(key, [&](const json& value) {
    detail::refuse_if(!value.is_string(), named(key) + " is not a text");
    return value.get<std::string>();
  });
}

std::optional<bool> Section::truth(const std::string& key) const {
  return read(key, [&](const json& value) {
    const std::string word = folded(value.is_string() ? value.get<std::string>() : text::json_excerpt(value));
    const bool truth = word == "true" || word == "1";
    detail::refuse_if(!truth && word != "false" && word != "0",
                      named(key) + " is neither true nor false: " + shown(value));
    return truth;
  });
}

std::optional<std::int64_t> Section::number(const std::string& key, std::int64_t least) const {
  return read(key, [&](const json& value) { return number_of(value, key, least); });
}

std::optional<std::vector<std::string>> Section::texts(const std::string& key) const {
  return read(key, [&](const json& value) {
    if (value.is_string()) {
      return text::list_items(value.get_ref<const std::string&>());
    }
    refuse_if(!value.is_array() || !std::ranges::all_of(value, &json::is_string),
              named(key) + " is neither a text nor a list of texts: " + shown(value));
    return value.get<std::vector<std::string>>();
  });
}

std::optional<std::vector<std::int64_t>> Section::numbers(const std::string& key) const {
  return read(key, [&](const json& value) {
    const auto number = [&](const json& item) { return number_of(item, key, 0); };
    return value.is_array()    ? mapped(value, number)
           : value.is_string() ? mapped(text::list_items(value.get_ref<const std::string&>()), number)
                               : std::vector{number(value)};
  });
}

std::int64_t Section::number_of(const json& value, const std::string& key, std::int64_t least) const {
  const std::string word =
      value.is_string() ? std::string(text::trimmed(value.get_ref<const std::string&>())) : text::json_excerpt(value);
  const auto number = text::parsed<std::int64_t>(word);
  refuse_if(!number, named(key) + " is not a whole number: " + shown(value));
  refuse_if(*number < least, named(key) + " is " + word + ", not " + std::to_string(least) + " or more");
  return *number;
}

}  // namespace smd::detail::hook
