// SPDX-License-Identifier: Apache-2.0
// HookConfig::to_json: the inverse of `HookConfig::parse`.
#include <smd/hook_config.hpp>

#include "config_section.hpp"
#include "stock_collections.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace smd {
namespace {

using Json = nlohmann::ordered_json;

std::string joined(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) {
    text += (text.empty() ? "" : ",") + item;
  }
  return text;
}

/// Writes one string with commas, as SageMaker requires; a JSON list if an item has a comma itself.
void set_texts(Json& object, const char* key, const std::vector<std::string>& items) {
  if (items.empty()) {
    return;
  }
  const bool commas =
      std::any_of(items.begin(), items.end(), [](const std::string& item) { return item.find(',') != item.npos; });
  object[key] = commas ? Json(items) : Json(joined(items));
}

void set_true(Json& object, const char* key, bool truth) {
  if (truth) {
    object[key] = "true";
  }
}

/// Returns the settings in which one mode differs from `base`. With `named`, the interval is written even if it is the
/// same: the hook that reads this may have another default.
Json steps_json(const SaveConfigMode& config, const SaveConfigMode& base, bool named) {
  Json keys = Json::object();
  const auto set = [&](const char* key, std::string value) { keys[key] = std::move(value); };
  const bool by_interval = !config.end_step || *config.end_step > config.start_step;
  if (by_interval && (named || config.save_interval != base.save_interval)) {
    set("save_interval", std::to_string(config.save_interval));
  }
  if (config.save_steps != base.save_steps) {
    std::string steps;
    for (const std::int64_t step : config.save_steps) {
      steps += (steps.empty() ? "" : ",") + std::to_string(step);
    }
    set("save_steps", std::move(steps));
  }
  if (config.start_step != base.start_step) {
    set("start_step", std::to_string(config.start_step));
  }
  if (config.end_step != base.end_step) {
    // No string means "no end": the largest step stands for it.
    set("end_step", std::to_string(config.end_step.value_or(std::numeric_limits<std::int64_t>::max())));
  }
  return keys;
}

/// Modes that `configs` does not name are as in `base`.
void set_steps(Json& object, const std::map<Mode, SaveConfigMode>& configs, const SaveConfig& base, bool named) {
  using detail::hook::mode_prefixes;
  std::array<Json, mode_prefixes.size()> plain;
  plain.fill(Json::object());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (const auto at = configs.find(mode_prefixes[i].first); at != configs.end()) {
      plain[i] = steps_json(at->second, base.mode(at->first), named);
    }
  }
  if (std::all_of(plain.begin(), plain.end(), [&](const Json& one) { return one == plain.front(); })) {
    object.update(plain.front());
    return;
  }
  for (std::size_t i = 0; i < plain.size(); ++i) {
    for (const auto& [key, value] : plain[i].items()) {
      object[std::string(mode_prefixes[i].second) + key] = value;
    }
  }
}

void set_reductions(Json& object, const std::optional<ReductionConfig>& config) {
  if (!config) {
    return;
  }
  std::vector<std::string> names = config->reductions;
  for (std::string& name : names) {
    name += name.ends_with("l1") || name.ends_with("l2") ? "_norm" : "";  // as the reference takes them
  }
  set_texts(object, "reductions", names);
  set_true(object, "save_raw_tensor", config->save_raw_tensor);
  set_true(object, "save_shape", config->save_shape);
}

void set_histogram(Json& object, const std::optional<bool>& save) {
  if (save) {
    object["save_histogram"] = *save ? "true" : "false";
  }
}

Json collection_json(const CollectionConfig& collection, const SaveConfig& of_hook) {
  Json parameters = Json::object();
  set_texts(parameters, "include_regex", collection.include_regex);
  set_texts(parameters, "tensor_names", collection.tensor_names);
  set_reductions(parameters, collection.reduction_config);
  set_histogram(parameters, collection.save_histogram);
  set_steps(parameters, collection.save_config, of_hook, true);
  Json json = {{"CollectionName", collection.name}};
  if (!parameters.empty()) {
    json["CollectionParameters"] = std::move(parameters);
  }
  return json;
}

Json parameters_json(const HookConfig& config, const HookConfig& fallback) {
  Json parameters = Json::object();
  set_true(parameters, "save_all", config.save_all || detail::hook::selects_nothing(config));
  set_texts(parameters, "include_regex", config.include_regex);
  set_texts(parameters, "include_collections", config.include_collections);
  set_reductions(parameters, config.reduction_config);
  set_histogram(parameters, config.save_histogram);
  set_steps(parameters, config.save_config.modes(), fallback.save_config, false);
  if (config.include_workers == IncludeWorkers::one) {
    parameters["include_workers"] = "one";
  }
  set_true(parameters, "dry_run", config.dry_run);
  set_true(parameters, "export_tensorboard", config.export_tensorboard);
  if (!config.tensorboard_dir.empty()) {
    parameters["tensorboard_dir"] = config.tensorboard_dir;
  }
  if (config.worker != fallback.worker) {
    parameters["worker"] = config.worker;
  }
  if (config.num_workers != fallback.num_workers) {
    parameters["num_workers"] = std::to_string(config.num_workers);
  }
  return parameters;
}

}  // namespace

std::string HookConfig::to_json() const {
  const HookConfig fallback = detail::hook::default_config(framework);
  Json json = Json::object();
  if (!enabled) {
    json["DebugHookConfig"] = false;
    return json.dump(2);
  }
  if (out_dir != fallback.out_dir) {
    json[out_dir.starts_with("s3://") ? "S3OutputPath" : "LocalPath"] = out_dir;
  }
  if (Json parameters = parameters_json(*this, fallback); !parameters.empty()) {
    json["HookParameters"] = std::move(parameters);
  }
  for (const CollectionConfig& collection : collections) {
    json["CollectionConfigurations"].push_back(collection_json(collection, save_config));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace smd
