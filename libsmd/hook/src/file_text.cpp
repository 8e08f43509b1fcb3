// SPDX-License-Identifier: Apache-2.0
#include "file_text.hpp"

#include "text/words.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace smd::detail::hook {
namespace {

using nlohmann::json;
using text::joined;

/// Returns a JSON string: ASCII, `\u` escapes, surrogate pairs. Most names need no escapes, and nlohmann takes half a
/// microsecond for each: a tenth of what smd-save --jsonl computes for a small tensor.
std::string json_string(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7F' && c != '"' && c != '\\'; });
  return plain ? '"' + std::string(text) + '"' : json(text).dump(-1, ' ', true, json::error_handler_t::replace);
}

std::string steps_text(const SaveConfigMode& config) {
  return fmt::format(R"({{"save_interval": {}, "save_steps": [{}], "start_step": {}, "end_step": {}}})",
                     config.save_interval, fmt::join(config.save_steps, ", "), config.start_step,
                     config.end_step ? std::to_string(*config.end_step) : "null");
}

std::string collection_text(const Collection& collection) {
  std::string reductions = "null";
  if (const auto& config = collection.reduction_config) {
    reductions = fmt::format(R"({{"save_raw_tensor": {}, "reductions": "{}", "save_shape": {}}})",
                             config->save_raw_tensor, reference_reduction_list(config->reductions), config->save_shape);
  }
  const std::string steps = joined(collection.save_config, ", ", [](const auto& of_mode) {
    return fmt::format(R"("{}": {})", to_string(of_mode.first), steps_text(of_mode.second));
  });
  return fmt::format(
      R"({{"name": {}, "include_regex": [{}], "tensor_names": [{}], "reduction_config": {}, "save_config": {}, )"
      R"("save_histogram": {}}})",
      json_string(collection.name), joined(collection.include_regex, ", ", json_string),
      joined(collection.tensor_names, ", ", json_string), reductions, steps.empty() ? "null" : "{" + steps + "}",
      collection.save_histogram.value_or(true));
}

}  // namespace

std::string index_text(const IndexContent& content) {
  return fmt::format(
      R"({{"meta": {{"mode": "{}", "mode_step": {}{}}}, "tensor_payload": [{}], "shape_payload": [{}]}})",
      to_string(content.mode), content.mode_step,
      content.event_file.empty() ? "" : R"(, "event_file_name": )" + json_string(content.event_file),
      joined(content.records, ", ",
             [](const RecordEntry& entry) {
               return R"({"tensorname": )" + json_string(entry.tensor) + R"(, "start_idx": )" +
                      std::to_string(entry.start) + R"(, "length": )" + std::to_string(entry.length) + "}";
             }),
      joined(content.shapes, ", ", [](const ShapeEntry& entry) {
        return fmt::format(R"({{"tensorname": {}, "originalname": {}, "shape": [{}]}})", json_string(entry.tensor),
                           json_string(entry.original), fmt::join(entry.shape, ", "));
      }));
}

std::string collections_text(const std::map<std::string, Collection>& collections, std::size_t num_workers) {
  return fmt::format(
      R"({{"collections": {{{}}}, "_meta": {{"num_workers": {}}}}})",
      joined(collections, ", ",
             [](const auto& one) { return json_string(one.first) + ": " + collection_text(one.second); }),
      num_workers);
}

}  // namespace smd::detail::hook
