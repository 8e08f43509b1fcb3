// SPDX-License-Identifier: Apache-2.0
#include "file_text.hpp"

#include "reduce/saved_reductions.hpp"
#include "text/escape.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smd::detail::hook {
namespace {

void append_unit(std::string& out, unsigned unit) { fmt::format_to(std::back_inserter(out), "\\u{:04x}", unit); }

template <class List, class Append>
void append_list(std::string& out, const List& list, Append append) {
  out += '[';
  bool first = true;
  for (const auto& item : list) {
    out += first ? "" : ", ";
    append(item);
    first = false;
  }
  out += ']';
}

void append_strings(std::string& out, const std::vector<std::string>& texts) {
  append_list(out, texts, [&out](const std::string& text) { append_json_string(out, text); });
}

void append_numbers(std::string& out, const std::vector<std::int64_t>& numbers) {
  append_list(out, numbers, [&out](std::int64_t number) { out += std::to_string(number); });
}

void append_bool(std::string& out, bool truth) { out += truth ? "true" : "false"; }

void append_save_config(std::string& out, const SaveConfigMode& config) {
  out += R"({"save_interval": )" + std::to_string(config.save_interval) + R"(, "save_steps": )";
  append_numbers(out, config.save_steps);
  out += R"(, "start_step": )" + std::to_string(config.start_step) +
         ", \"end_step\": " + (config.end_step ? std::to_string(*config.end_step) : "null") + "}";
}

void append_collection(std::string& out, const Collection& collection) {
  out += R"({"name": )";
  append_json_string(out, collection.name);
  out += R"(, "include_regex": )";
  append_strings(out, collection.include_regex);
  out += R"(, "tensor_names": )";
  append_strings(out, collection.tensor_names);
  out += R"(, "reduction_config": )";
  if (const auto& config = collection.reduction_config) {
    out += R"({"save_raw_tensor": )";
    append_bool(out, config->save_raw_tensor);
    out += R"(, "reductions": ")" + reduce::reference_reduction_list(config->reductions) + R"(", "save_shape": )";
    append_bool(out, config->save_shape);
    out += '}';
  } else {
    out += "null";
  }
  out += R"(, "save_config": )";
  if (collection.save_config.empty()) {
    out += "null";
  } else {
    out += '{';
    bool first = true;
    for (const auto& [mode, config] : collection.save_config) {
      out += first ? R"(")" : R"(, ")";
      out += to_string(mode);
      out += R"(": )";
      append_save_config(out, config);
      first = false;
    }
    out += '}';
  }
  out += R"(, "save_histogram": )";
  append_bool(out, collection.save_histogram.value_or(true));
  out += '}';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto [point, bytes] = first_character(text);
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
    switch (point) {
      case U'"':
        out += "\\\"";
        break;
      case U'\\':
        out += "\\\\";
        break;
      case U'\n':
        out += "\\n";
        break;
      case U'\r':
        out += "\\r";
        break;
      case U'\t':
        out += "\\t";
        break;
      case U'\f':
        out += "\\f";
        break;
      case U'\b':
        out += "\\b";
        break;
      default:
        if (point >= 0x20 && point < 0x7F) {
          out += static_cast<char>(point);
        } else if (point < 0x10000) {
          append_unit(out, point);
        } else {
          append_unit(out, 0xD800 + ((point - 0x10000) >> 10));
          append_unit(out, 0xDC00 + ((point - 0x10000) & 0x3FF));
        }
    }
  }
  out += '"';
}

std::string index_text(const IndexContent& content) {
  std::string out = R"({"meta": {"mode": ")";
  out += to_string(content.mode);
  out += R"(", "mode_step": )" + std::to_string(content.mode_step);
  if (!content.event_file.empty()) {
    out += R"(, "event_file_name": )";
    append_json_string(out, content.event_file);
  }
  out += R"(}, "tensor_payload": )";
  append_list(out, content.records, [&out](const RecordEntry& entry) {
    out += R"({"tensorname": )";
    append_json_string(out, entry.tensor);
    out += R"(, "start_idx": )" + std::to_string(entry.start) + R"(, "length": )" + std::to_string(entry.length) + "}";
  });
  out += R"(, "shape_payload": )";
  append_list(out, content.shapes, [&out](const ShapeEntry& entry) {
    out += R"({"tensorname": )";
    append_json_string(out, entry.tensor);
    out += R"(, "originalname": )";
    append_json_string(out, entry.original);
    out += R"(, "shape": )";
    append_numbers(out, entry.shape);
    out += '}';
  });
  out += '}';
  return out;
}

std::string collections_text(const std::map<std::string, Collection>& collections, std::size_t num_workers) {
  std::string out = R"({"collections": {)";
  bool first = true;
  for (const auto& [name, collection] : collections) {
    out += first ? "" : ", ";
    append_json_string(out, name);
    out += ": ";
    append_collection(out, collection);
    first = false;
  }
  out += R"(}, "_meta": {"num_workers": )" + std::to_string(num_workers) + "}}";
  return out;
}

}  // namespace smd::detail::hook
