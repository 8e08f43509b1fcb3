// SPDX-License-Identifier: Apache-2.0
#include "config_section.hpp"
#include "stock_collections.hpp"
#include "text/escape.hpp"
#include "text/json.hpp"
#include "text/limits.hpp"
#include "types/refuse.hpp"
#include "wire/first_bytes.hpp"

#include <smd/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace smd {

// The hook's configuration as JSON: the reference's json_config and SageMaker's CreateTrainingJob.
namespace {

using detail::hook::Section;
using nlohmann::json;

constexpr std::array<std::string_view, 10> top_keys = {
    "LocalPath",          "S3OutputPath",    "S3Path", "HookParameters", "CollectionConfigurations",
    "export_tensorboard", "tensorboard_dir", "worker", "num_workers",    "TensorBoardOutputConfig"};
constexpr std::array<std::string_view, 13> hook_keys = {"reductions",      "save_raw_tensor", "save_shape",
                                                        "save_all",        "include_regex",   "include_collections",
                                                        "include_workers", "save_histogram",  "export_tensorboard",
                                                        "tensorboard_dir", "worker",          "num_workers",
                                                        "dry_run"};
constexpr std::array<std::string_view, 6> collection_keys = {"reductions",    "save_raw_tensor", "save_shape",
                                                             "include_regex", "tensor_names",    "save_histogram"};
constexpr std::array<std::string_view, 2> configuration_keys = {"CollectionName", "CollectionParameters"};
constexpr std::array<std::string_view, 2> tensorboard_keys = {"LocalPath", "S3OutputPath"};
/// The `end_step` that stands for no end: a missing one has the value of the hook.
constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

/// Applies the step keys of a section that have this prefix; the empty prefix is for all modes.
void apply_steps(SaveConfigMode& config, const Section& section, const std::string& prefix) {
  config.save_interval = section.number(prefix + "save_interval", 1).value_or(config.save_interval);
  config.start_step = section.number(prefix + "start_step", 0).value_or(config.start_step);
  if (const auto end = section.number(prefix + "end_step", 0)) {
    config.end_step = *end == no_end ? std::nullopt : end;
  }
  if (auto steps = section.numbers(prefix + "save_steps")) {
    config.save_steps = std::move(*steps);
  }
}

std::map<Mode, SaveConfigMode> steps_of(const Section& section, const SaveConfig& base) {
  std::map<Mode, SaveConfigMode> configs;
  for (const auto& [mode, prefix] : detail::hook::mode_prefixes) {
    SaveConfigMode config = base.mode(mode);
    apply_steps(config, section, "");
    apply_steps(config, section, std::string(prefix));
    configs.emplace(mode, std::move(config));
  }
  return configs;
}

/// As in the reference: without `reductions` the tensor itself is saved; with them, only if `save_raw_tensor` says so.
std::optional<ReductionConfig> reductions_of(const Section& section) {
  const auto raw = section.truth("save_raw_tensor");
  const auto shape = section.truth("save_shape");
  const auto list = section.texts("reductions");
  if (!raw && !shape && !list) {
    return std::nullopt;
  }
  try {
    const std::string names = fmt::format("{}", fmt::join(list.value_or(std::vector<std::string>{}), ","));
    ReductionConfig config = parse_reduction_config(names, false, shape.value_or(false));
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

void apply_tensorboard(HookConfig& config, const Section& above) {
  const json* const object = above.find("TensorBoardOutputConfig");
  if (object == nullptr) {
    return;
  }
  const Section section(*object, above.named("TensorBoardOutputConfig"));
  section.check_keys(tensorboard_keys, false);
  config.export_tensorboard = true;
  config.tensorboard_dir = section.text("LocalPath").value_or("/opt/ml/output/tensorboard");
}

CollectionConfig collection_of(const json& object, const std::string& where, const SaveConfig& hook_steps) {
  const Section outer(object, where);
  outer.check_keys(configuration_keys, false);
  const auto name = outer.text("CollectionName");
  detail::refuse_if(!name || name->empty(), where + ": there is no CollectionName");
  CollectionConfig collection{.name = *name};
  const json* const parameters = outer.find("CollectionParameters");
  const json none = json::object();
  const Section section(parameters == nullptr ? none : *parameters, where + ": " + detail::in_quotes(*name));
  section.check_keys(collection_keys, true);
  collection.include_regex = section.texts("include_regex").value_or(std::vector<std::string>{});
  collection.tensor_names = section.texts("tensor_names").value_or(std::vector<std::string>{});
  collection.reduction_config = reductions_of(section);
  collection.save_histogram = section.truth("save_histogram");
  if (section.has_steps()) {
    collection.save_config = steps_of(section, hook_steps);
  }
  return collection;
}

/// Returns the URL on S3, also from an older key; nullopt if neither is set.
std::optional<std::string> s3_output_path(const Section& top) {
  for (const char* const key : {"S3OutputPath", "S3Path"}) {
    if (auto uri = top.text(key); uri && !uri->empty()) {
      return uri;
    }
  }
  return std::nullopt;
}

IncludeWorkers include_workers(const Section& section) {
  const std::string which = section.text("include_workers").value_or("all");
  detail::refuse_if(which != "all" && which != "one",
                    section.named("include_workers") + " is neither one nor all: " + detail::in_quotes(which));
  return which == "one" ? IncludeWorkers::one : IncludeWorkers::all;
}

std::vector<CollectionConfig> collections_of(const HookConfig& config, const Section& section) {
  const json* const list = section.find("CollectionConfigurations");
  const std::string where = section.named("CollectionConfigurations");
  detail::refuse_if(list != nullptr && !list->is_array(), where + " is not a list");
  std::vector<CollectionConfig> collections;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    collections.push_back(collection_of((*list)[i], where + "[" + std::to_string(i) + "]", config.save_config));
  }
  return collections;
}

/// As in the reference, a later collection of the same name has the last word on the steps and on what else it sets;
/// patterns and names add up.
void set_collection(HookConfig& config, CollectionConfig later) {
  const auto at = std::ranges::find(config.collections, later.name, &CollectionConfig::name);
  if (at == config.collections.end()) {
    config.collections.push_back(std::move(later));
    return;
  }
  at->include_regex.insert(at->include_regex.end(), later.include_regex.begin(), later.include_regex.end());
  at->tensor_names.insert(at->tensor_names.end(), later.tensor_names.begin(), later.tensor_names.end());
  at->save_config = std::move(later.save_config);
  at->reduction_config = later.reduction_config ? std::move(later.reduction_config) : at->reduction_config;
  at->save_histogram = later.save_histogram ? later.save_histogram : at->save_histogram;
}

void apply_hook(HookConfig& config, const json& object, const std::string& where) {
  const Section top(object, where);
  top.check_keys(top_keys, false);
  if (auto path = top.text("LocalPath")) {
    config.out_dir = std::move(*path);
  } else if (auto uri = s3_output_path(top)) {
    config.out_dir = std::move(*uri);  // where SageMaker would upload it
  }
  apply_place(config, top);
  if (const json* const parameters = top.find("HookParameters")) {
    const Section section(*parameters, where + ": HookParameters");
    section.check_keys(hook_keys, true);
    apply_place(config, section);
    config.save_config = SaveConfig(steps_of(section, config.save_config));
    config.reduction_config = reductions_of(section);
    config.save_all = section.truth("save_all").value_or(false);
    config.dry_run = section.truth("dry_run").value_or(false);
    config.save_histogram = section.truth("save_histogram");
    config.include_workers = include_workers(section);
    config.include_regex = section.texts("include_regex").value_or(std::vector<std::string>{});
    config.include_collections = section.texts("include_collections").value_or(std::vector<std::string>{});
  }
  for (CollectionConfig& collection : collections_of(config, top)) {
    set_collection(config, std::move(collection));
  }
  apply_tensorboard(config, top);
}

/// Adds the collections that stand beside rules, as in SageMaker's published configurations: of one rule, of a list, or
/// of an object of rules by name. Returns whether there are such rules.
bool apply_rules(HookConfig& config, const json& document, const std::string& where) {
  if (document.is_object() && document.contains("DebugRuleConfiguration")) {
    for (CollectionConfig& collection : collections_of(config, Section(document, where))) {
      config.add_collection(std::move(collection));
    }
    return true;
  }
  // A rule without collections beside it is one too.
  bool any = document.is_object() && document.contains("RuleConfigurationName");
  if (document.is_array()) {
    for (std::size_t i = 0; i < document.size(); ++i) {
      any = apply_rules(config, document[i], where + "[" + std::to_string(i) + "]") || any;
    }
  } else if (document.is_object()) {
    for (const auto& [name, rule] : document.items()) {
      if (rule.is_object() && rule.contains("DebugRuleConfiguration")) {
        any = apply_rules(config, rule, where + ": " + detail::printable(name)) || any;
      }
    }
  }
  return any;
}

/// Returns whether the document is a CreateTrainingJob request or the reply that describes a job: much of these is not
/// for the hook.
bool is_job(const json& document) {
  constexpr std::array<const char*, 5> keys = {"DebugHookConfig", "DebugRuleConfigurations", "TrainingJobName",
                                               "TrainingJobArn", "AlgorithmSpecification"};
  return document.is_object() && std::ranges::any_of(keys, [&](const char* key) { return document.contains(key); });
}

void apply_job(HookConfig& config, const json& job, const std::string& where) {
  const Section top(job, where);
  const json* const hook = top.find("DebugHookConfig");
  config.enabled = hook != nullptr && *hook != json(false);
  if (config.enabled) {
    apply_hook(config, *hook, top.named("DebugHookConfig"));
  }
  apply_tensorboard(config, top);
  if (const json* const rules = top.find("DebugRuleConfigurations")) {
    static_cast<void>(apply_rules(config, *rules, top.named("DebugRuleConfigurations")));
    config.enabled = config.enabled || !config.collections.empty();
  }
}

// HookConfig::to_json: the inverse of `HookConfig::parse`.
using Json = nlohmann::ordered_json;

/// Writes one string with commas, as SageMaker requires; a JSON list if an item has a comma itself.
void set_texts(Json& object, const char* key, const std::vector<std::string>& items) {
  if (items.empty()) {
    return;
  }
  const bool commas = std::ranges::any_of(items, [](const std::string& item) { return item.find(',') != item.npos; });
  object[key] = commas ? Json(items) : Json(fmt::format("{}", fmt::join(items, ",")));
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
  const bool by_interval = !config.end_step || *config.end_step > config.start_step;
  if (by_interval && (named || config.save_interval != base.save_interval)) {
    keys["save_interval"] = std::to_string(config.save_interval);
  }
  if (config.save_steps != base.save_steps) {
    keys["save_steps"] = fmt::format("{}", fmt::join(config.save_steps, ","));
  }
  if (config.start_step != base.start_step) {
    keys["start_step"] = std::to_string(config.start_step);
  }
  if (config.end_step != base.end_step) {
    keys["end_step"] = std::to_string(config.end_step.value_or(no_end));
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
  if (std::ranges::all_of(plain, [&](const Json& one) { return one == plain.front(); })) {
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
  Json all = {{"CollectionName", collection.name}};
  if (!parameters.empty()) {
    all["CollectionParameters"] = std::move(parameters);
  }
  return all;
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

HookConfig HookConfig::parse(std::string_view text, std::string_view where_view, Framework framework) {
  const std::string where(where_view);
  detail::refuse_if(text.size() > limits::json_bytes,
                    where + ": the JSON document is larger than a configuration may be");
  text::JsonDocument<json> parsed;
  if (const auto error = text::parse_json(text, parsed)) {
    const Problem problem = detail::wire::json_problem(*error);
    throw InvalidArgument(where + (problem.offset ? ": byte " + std::to_string(*problem.offset) : "") + ": " +
                          problem.text);
  }
  const json& document = *parsed;
  HookConfig config = detail::hook::default_config(framework);
  if (is_job(document)) {
    apply_job(config, document, where);
  } else if (!apply_rules(config, document, where)) {
    apply_hook(config, document, where);
  } else if (config.collections.empty()) {
    throw InvalidArgument(where + ": rules that do not say what to save; smd-rule --hook-config -C FILE does");
  }
  if (detail::hook::selects_nothing(config)) {
    // Unlike a HookConfig that a program makes, which saves every tensor that it is given.
    config.include_collections = detail::hook::collections_always_saved(framework);
  }
  return config;
}

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
