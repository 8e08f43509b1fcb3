// SPDX-License-Identifier: Apache-2.0
// The hook's configuration as JSON: the reference's json_config and SageMaker's CreateTrainingJob.
#include <smd/error.hpp>
#include <smd/hook_config.hpp>
#include <smd/limits.hpp>

#include "base/escape.hpp"
#include "base/nearest.hpp"
#include "layout/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <utility>

namespace smd {
namespace {

using nlohmann::json;
using Keys = std::span<const std::string_view>;

constexpr std::array<std::string_view, 4> step_keys = {"save_interval", "save_steps", "start_step", "end_step"};
constexpr std::array<std::string_view, 5> step_prefixes = {"", "train.", "eval.", "predict.", "global."};
constexpr std::array<Mode, 4> modes = {Mode::train, Mode::eval, Mode::predict, Mode::global};

constexpr std::array<std::string_view, 10> top_keys = {
    "LocalPath",          "S3OutputPath",    "S3Path", "HookParameters", "CollectionConfigurations",
    "export_tensorboard", "tensorboard_dir", "worker", "num_workers",    "TensorBoardOutputConfig"};
constexpr std::array<std::string_view, 12> hook_keys = {"reductions",      "save_raw_tensor", "save_shape",
                                                        "save_all",        "include_regex",   "include_collections",
                                                        "include_workers", "save_histogram",  "export_tensorboard",
                                                        "tensorboard_dir", "worker",          "num_workers"};
constexpr std::array<std::string_view, 6> collection_keys = {"reductions",    "save_raw_tensor", "save_shape",
                                                             "include_regex", "tensor_names",    "save_histogram"};
constexpr std::array<std::string_view, 2> configuration_keys = {"CollectionName", "CollectionParameters"};
constexpr std::array<std::string_view, 2> tensorboard_keys = {"LocalPath", "S3OutputPath"};

/// An object of the configuration, and what to call it in messages: `hook.json: HookParameters`.
class Section {
 public:
  Section(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object_.is_object()) {
      throw InvalidArgument(where_ + ": not a JSON object");
    }
  }

  /// @throws InvalidArgument for a key that is none of these (with steps: nor one of `train.save_interval` and so on).
  void check_keys(Keys keys, bool steps) const {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end() || (steps && is_step_key(key))) {
        continue;
      }
      std::vector<std::string> known(keys.begin(), keys.end());
      if (steps) {
        for (const std::string_view prefix : step_prefixes) {
          for (const std::string_view step_key : step_keys) {
            known.push_back(std::string(prefix) + std::string(step_key));
          }
        }
      }
      const std::vector<std::string_view> names(known.begin(), known.end());
      const std::vector<std::string> near = detail::nearest(key, names, 1);
      throw InvalidArgument(where_ + ": unknown key '" + detail::printable(key) + "'" +
                            (near.empty() ? "" : "; did you mean '" + near.front() + "'?"));
    }
  }

  /// The value of a key; null if it is missing or null.
  [[nodiscard]] const json* find(const std::string& key) const {
    const auto at = object_.find(key);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }
  [[nodiscard]] std::string named(const std::string& key) const { return where_ + ": " + key; }

  [[nodiscard]] std::optional<std::string> text(const std::string& key) const {
    const json* const value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (!value->is_string()) {
      throw InvalidArgument(named(key) + " is not a text");
    }
    return value->get<std::string>();
  }

  [[nodiscard]] std::optional<bool> truth(const std::string& key) const {
    const json* const value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (value->is_boolean()) {
      return value->get<bool>();
    }
    std::string word = value->is_string() ? value->get<std::string>() : value->dump();
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    if (word == "true" || word == "1") {
      return true;
    }
    if (word == "false" || word == "0") {
      return false;
    }
    throw InvalidArgument(named(key) + " is neither true nor false: " + shown(*value));
  }

  [[nodiscard]] std::optional<std::int64_t> number(const std::string& key, std::int64_t least) const {
    const json* const value = find(key);
    return value == nullptr ? std::nullopt : std::optional(number_of(*value, key, least));
  }

  /// Texts parted by commas, or a JSON list of them.
  [[nodiscard]] std::optional<std::vector<std::string>> texts(const std::string& key) const {
    const json* const value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    std::vector<std::string> list;
    if (value->is_string()) {
      split(value->get_ref<const std::string&>(), list);
    } else if (value->is_array() &&
               std::all_of(value->begin(), value->end(), [](const json& item) { return item.is_string(); })) {
      list = value->get<std::vector<std::string>>();
    } else {
      throw InvalidArgument(named(key) + " is neither a text nor a list of texts: " + shown(*value));
    }
    return list;
  }

  [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers(const std::string& key) const {
    const json* const value = find(key);
    if (value == nullptr) {
      return std::nullopt;
    }
    std::vector<std::int64_t> list;
    if (value->is_array()) {
      for (const json& item : *value) {
        list.push_back(number_of(item, key, 0));
      }
    } else if (value->is_string()) {
      std::vector<std::string> parts;
      split(value->get_ref<const std::string&>(), parts);
      for (const std::string& part : parts) {
        list.push_back(number_of(json(part), key, 0));
      }
    } else {
      list.push_back(number_of(*value, key, 0));
    }
    return list;
  }

 private:
  static bool is_step_key(std::string_view key) {
    const std::size_t dot = key.find('.');
    const std::string_view prefix = dot == key.npos ? std::string_view{} : key.substr(0, dot + 1);
    const std::string_view rest = dot == key.npos ? key : key.substr(dot + 1);
    return std::find(step_prefixes.begin(), step_prefixes.end(), prefix) != step_prefixes.end() &&
           std::find(step_keys.begin(), step_keys.end(), rest) != step_keys.end();
  }

  static std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    return first == text.npos ? std::string()
                              : std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
  }

  static void split(std::string_view text, std::vector<std::string>& list) {
    for (;;) {
      const std::size_t comma = text.find(',');
      if (std::string part = trimmed(text.substr(0, comma)); !part.empty()) {
        list.push_back(std::move(part));
      }
      if (comma == text.npos) {
        return;
      }
      text.remove_prefix(comma + 1);
    }
  }

  static std::string shown(const json& value) {
    return detail::printable(value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 80));
  }

  [[nodiscard]] std::int64_t number_of(const json& value, const std::string& key, std::int64_t least) const {
    const std::string text = value.is_string() ? trimmed(value.get_ref<const std::string&>()) : value.dump();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
      throw InvalidArgument(named(key) + " is not a whole number: " + shown(value));
    }
    if (number < least) {
      throw InvalidArgument(named(key) + " is " + text + ", not " + std::to_string(least) + " or more");
    }
    return number;
  }

  const json& object_;
  std::string where_;
};

/// What a section says of one mode: `prefix` empty for all modes.
void apply_steps(SaveConfigMode& config, const Section& section, const std::string& prefix) {
  config.save_interval = section.number(prefix + "save_interval", 1).value_or(config.save_interval);
  config.start_step = section.number(prefix + "start_step", 0).value_or(config.start_step);
  if (const auto end = section.number(prefix + "end_step", 0)) {
    config.end_step = end;
  }
  if (auto steps = section.numbers(prefix + "save_steps")) {
    config.save_steps = std::move(*steps);
  }
}

std::map<Mode, SaveConfigMode> steps_of(const Section& section, const SaveConfig& base) {
  std::map<Mode, SaveConfigMode> configs;
  for (std::size_t i = 0; i < modes.size(); ++i) {
    SaveConfigMode config = base.mode(modes[i]);
    apply_steps(config, section, "");
    apply_steps(config, section, std::string(step_prefixes[i + 1]));
    configs.emplace(modes[i], std::move(config));
  }
  return configs;
}

/// As the reference: without `reductions` the tensor itself is saved, with them only if that is asked for.
std::optional<ReductionConfig> reductions_of(const Section& section) {
  const auto raw = section.truth("save_raw_tensor");
  const auto shape = section.truth("save_shape");
  const auto list = section.texts("reductions");
  if (!raw && !shape && !list) {
    return std::nullopt;
  }
  std::string joined;
  for (const std::string& name : list.value_or(std::vector<std::string>{})) {
    joined += name + ",";
  }
  try {
    ReductionConfig config = ReductionConfig::parse(joined, false, shape.value_or(false));
    config.save_raw_tensor = raw.value_or(config.reductions.empty() && !config.save_shape);
    return config;
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(section.named("reductions") + ": " + error.what());
  }
}

void apply_place(HookConfig& config, const Section& section) {
  config.export_tensorboard = section.truth("export_tensorboard").value_or(config.export_tensorboard);
  config.tensorboard_dir = section.text("tensorboard_dir").value_or(config.tensorboard_dir);
  config.worker = section.text("worker").value_or(config.worker);
  if (const auto workers = section.number("num_workers", 1)) {
    config.num_workers = static_cast<std::size_t>(*workers);
  }
}

void apply_tensorboard(HookConfig& config, const json& object, const std::string& where) {
  const Section section(object, where);
  section.check_keys(tensorboard_keys, false);
  config.export_tensorboard = true;
  config.tensorboard_dir = section.text("LocalPath").value_or("/opt/ml/output/tensorboard");
}

CollectionConfig collection_of(const json& object, const std::string& where, const SaveConfig& hook_steps) {
  const Section outer(object, where);
  outer.check_keys(configuration_keys, false);
  const auto name = outer.text("CollectionName");
  if (!name || name->empty()) {
    throw InvalidArgument(where + ": there is no CollectionName");
  }
  CollectionConfig collection{.name = *name};
  const json* const parameters = outer.find("CollectionParameters");
  const json none = json::object();
  const Section section(parameters == nullptr ? none : *parameters, where + ": '" + detail::printable(*name) + "'");
  section.check_keys(collection_keys, true);
  collection.include_regex = section.texts("include_regex").value_or(std::vector<std::string>{});
  collection.tensor_names = section.texts("tensor_names").value_or(std::vector<std::string>{});
  collection.reduction_config = reductions_of(section);
  collection.save_histogram = section.truth("save_histogram");
  collection.save_config = steps_of(section, hook_steps);
  return collection;
}

void apply_hook(HookConfig& config, const json& object, const std::string& where) {
  const Section top(object, where);
  top.check_keys(top_keys, false);
  config.out_dir = top.text("LocalPath").value_or(config.out_dir);
  apply_place(config, top);
  if (const json* const parameters = top.find("HookParameters")) {
    const Section section(*parameters, where + ": HookParameters");
    section.check_keys(hook_keys, true);
    apply_place(config, section);
    config.save_config = SaveConfig(steps_of(section, config.save_config));
    config.reduction_config = reductions_of(section);
    config.save_all = section.truth("save_all").value_or(false);
    config.include_regex = section.texts("include_regex").value_or(std::vector<std::string>{});
    config.include_collections = section.texts("include_collections").value_or(std::vector<std::string>{});
  }
  if (const json* const list = top.find("CollectionConfigurations")) {
    if (!list->is_array()) {
      throw InvalidArgument(where + ": CollectionConfigurations is not a list");
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      config.collections.push_back(collection_of(
          (*list)[i], where + ": CollectionConfigurations[" + std::to_string(i) + "]", config.save_config));
    }
  }
  if (const json* const tensorboard = top.find("TensorBoardOutputConfig")) {
    apply_tensorboard(config, *tensorboard, where + ": TensorBoardOutputConfig");
  }
}

}  // namespace

HookConfig HookConfig::parse(std::string_view text, std::string_view where_view, Framework framework) {
  const std::string where(where_view);
  if (text.size() > limits::json_bytes || detail::layout::json_depth(text) > limits::json_depth) {
    throw InvalidArgument(where + ": the JSON document is larger or nested deeper than a configuration may be");
  }
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded()) {
    const Problem problem = detail::layout::invalid_json(text);
    throw InvalidArgument(where + (problem.offset ? ": byte " + std::to_string(*problem.offset) : "") + ": " +
                          problem.text);
  }
  HookConfig config;
  config.framework = framework;
  if (framework == Framework::xgboost) {
    config.save_config = SaveConfigMode{.save_interval = 10};
  }
  // A CreateTrainingJob request, or the reply that describes a job, has much that is not for the hook.
  if (document.is_object() && document.contains("DebugHookConfig")) {
    apply_hook(config, document.at("DebugHookConfig"), where + ": DebugHookConfig");
    if (const auto at = document.find("TensorBoardOutputConfig"); at != document.end() && !at->is_null()) {
      apply_tensorboard(config, *at, where + ": TensorBoardOutputConfig");
    }
    return config;
  }
  apply_hook(config, document, where);
  return config;
}

}  // namespace smd
