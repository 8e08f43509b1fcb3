// SPDX-License-Identifier: Apache-2.0
#include "layout/collections_file.hpp"

#include "base/escape.hpp"
#include "layout/json_text.hpp"

#include <smd/limits.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace smd::detail::layout {

namespace {

using nlohmann::json;

/// An integer of 64 bits, also as a text of digits.
std::optional<std::int64_t> integer(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    return number <= INT64_MAX ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
  }
  if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  }
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size()) {
      return number;
    }
  }
  return std::nullopt;
}

const json* find(const json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

/// Texts of a list; entries of other types, or too long, are left out and noted.
std::vector<std::string> texts(const json& collection, const char* key, const std::string& name, std::size_t longest,
                               std::vector<Problem>& notes) {
  std::vector<std::string> result;
  const json* const list = find(collection, key);
  if (list == nullptr) {
    return result;
  }
  if (!list->is_array()) {
    notes.push_back(damaged("collection '" + printable(name) + "': '" + key + "' is not a list"));
    return result;
  }
  for (const json& item : *list) {
    if (item.is_string() && item.get_ref<const std::string&>().size() <= longest) {
      result.push_back(item.get<std::string>());
    } else {
      notes.push_back(damaged("collection '" + printable(name) + "': '" + key +
                              "' holds something else than texts of at most " + std::to_string(longest / 1024) +
                              " KiB"));
    }
  }
  return result;
}

std::optional<SaveConfigMode> save_config_mode(const json& value) {
  if (!value.is_object()) {
    return std::nullopt;
  }
  SaveConfigMode config;
  if (const json* const interval = find(value, "save_interval")) {
    config.save_interval = integer(*interval).value_or(config.save_interval);
  }
  if (const json* const start = find(value, "start_step")) {
    config.start_step = integer(*start).value_or(config.start_step);
  }
  if (const json* const end = find(value, "end_step")) {
    config.end_step = integer(*end);
  }
  if (const json* const steps = find(value, "save_steps"); steps != nullptr && steps->is_array()) {
    for (const json& step : *steps) {
      if (const auto number = integer(step)) {
        config.save_steps.push_back(*number);
      }
    }
  }
  return config;
}

ReductionConfig reduction_config(const json& value) {
  ReductionConfig config;
  const auto flag = [&value](const char* key) {
    const json* const found = find(value, key);
    return found != nullptr && found->is_boolean() && found->get<bool>();
  };
  config.save_raw_tensor = flag("save_raw_tensor");
  config.save_shape = flag("save_shape");
  const json* const reductions = find(value, "reductions");
  if (reductions != nullptr && reductions->is_string()) {
    std::string_view rest = reductions->get_ref<const std::string&>();
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      if (comma > 0) {
        config.reductions.emplace_back(rest.substr(0, comma));
      }
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return config;
}

Collection collection(const std::string& name, const json& value, std::vector<Problem>& notes) {
  Collection result;
  result.name = name;
  result.tensor_names = texts(value, "tensor_names", name, limits::name_bytes, notes);
  std::sort(result.tensor_names.begin(), result.tensor_names.end());
  result.include_regex = texts(value, "include_regex", name, limits::pattern_bytes, notes);
  if (const json* const config = find(value, "reduction_config"); config != nullptr && config->is_object()) {
    result.reduction_config = reduction_config(*config);
  }
  if (const json* const config = find(value, "save_config"); config != nullptr && config->is_object()) {
    for (const auto& [mode_name, mode_config] : config->items()) {
      const std::optional<Mode> mode = parse_mode(mode_name);
      const std::optional<SaveConfigMode> parsed = save_config_mode(mode_config);
      if (mode && parsed) {
        result.save_config.emplace(*mode, *parsed);
      }
    }
  }
  if (const json* const histogram = find(value, "save_histogram"); histogram != nullptr && histogram->is_boolean()) {
    result.save_histogram = histogram->get<bool>();
  }
  return result;
}

}  // namespace

Outcome<CollectionsFile> parse_collections_file(std::span<const std::byte> bytes, std::vector<Problem>& notes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.empty()) {
    return damaged("the file is empty", 0);
  }
  if (json_depth(text) > limits::json_depth) {
    return damaged("nested deeper than " + std::to_string(limits::json_depth) + " levels");
  }
  json document = json::parse(text, nullptr, false);
  std::optional<Problem> left_out;
  if (document.is_discarded()) {
    left_out = invalid_json(text);
    document = json::parse(blank_out_unrepresentable(text), nullptr, false);
    if (document.is_discarded()) {
      return *left_out;
    }
    left_out->text = "a text with half a surrogate pair, or a number beyond a double, is left out";
  }
  if (!document.is_object()) {
    return damaged("not a JSON object", 0);
  }
  const json* const collections = find(document, "collections");
  if (collections == nullptr || !collections->is_object()) {
    return damaged("there is no object 'collections'");
  }
  CollectionsFile file;
  for (const auto& [key, value] : collections->items()) {
    if (left_out && key.empty()) {
      continue;  // in place of a name that is no text
    }
    if (!value.is_object()) {
      notes.push_back(damaged("collection '" + printable(key) + "' is not an object"));
      continue;
    }
    std::string name = key;
    if (const json* const own = find(value, "name"); own != nullptr && own->is_string()) {
      name = own->get<std::string>();
    }
    if (name.size() > limits::name_bytes) {
      notes.push_back(damaged("a collection's name is longer than 64 KiB"));
      continue;
    }
    if (name != key) {
      notes.push_back(
          {ProblemKind::note, {}, {}, "collection '" + printable(key) + "' calls itself '" + printable(name) + "'"});
    }
    file.collections.insert_or_assign(name, collection(name, value, notes));
  }
  if (const json* const meta = find(document, "_meta"); meta != nullptr && meta->is_object()) {
    if (const json* const workers = find(*meta, "num_workers")) {
      file.num_workers = integer(*workers);
      if (!file.num_workers) {
        notes.push_back(damaged("'num_workers' is no number"));
      }
    }
  }
  const auto told = [](const Problem& note) { return note.kind == ProblemKind::damaged; };
  if (left_out && std::none_of(notes.begin(), notes.end(), told)) {
    notes.push_back(*std::move(left_out));
  }
  return file;
}

void merge_collections(std::map<std::string, Collection>& into, const std::map<std::string, Collection>& more) {
  for (const auto& [name, collection] : more) {
    const auto [it, added] = into.try_emplace(name, collection);
    if (added) {
      continue;
    }
    Collection& known = it->second;
    std::vector<std::string> names;
    std::set_union(known.tensor_names.begin(), known.tensor_names.end(), collection.tensor_names.begin(),
                   collection.tensor_names.end(), std::back_inserter(names));
    known.tensor_names = std::move(names);
    for (const std::string& pattern : collection.include_regex) {
      if (std::find(known.include_regex.begin(), known.include_regex.end(), pattern) == known.include_regex.end()) {
        known.include_regex.push_back(pattern);
      }
    }
  }
}

}  // namespace smd::detail::layout
