// SPDX-License-Identifier: Apache-2.0
#include "wire/message.hpp"
#include "wire/summary.hpp"

#include "text/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace smd::detail::wire {
namespace {

using protozero::pbf_reader;

/// Appends a number; NaN and infinities, which JSON lacks, as texts.
void append_number(std::string& out, double number) {
  if (std::isfinite(number)) {
    std::array<char, 32> text{};
    out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
  } else {
    out += std::isnan(number) ? "\"NaN\"" : number > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
}

void append_text(std::string& out, std::string_view text) {
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_value(std::string& out, pbf_reader value, std::size_t depth);

void append_list(std::string& out, pbf_reader list, std::size_t depth) {
  out += '[';
  const std::size_t begin = out.size();
  while (next_field(list)) {
    if (list.tag() == 1) {
      out += out.size() == begin ? "" : ", ";
      append_value(out, message_of(list), depth + 1);
    } else {
      skip_field(list);
    }
  }
  out += ']';
}

/// Appends a google.protobuf.Value. In its oneof the last field counts. Structs, which no writer of hyperparameters
/// uses, and lists that are nested too deeply become null.
void append_value(std::string& out, pbf_reader value, std::size_t depth) {
  const std::size_t begin = out.size();
  out += "null";
  while (next_field(value)) {
    const std::uint32_t field = value.tag();
    if (field == 0 || field > 6) {
      skip_field(value);
      continue;
    }
    out.resize(begin);
    if (field == 2) {
      append_number(out, double_of(value));
    } else if (field == 3) {
      append_text(out, text_of(value));
    } else if (field == 4) {
      out += varint_of(value) != 0 ? "true" : "false";
    } else if (field == 6 && depth < limits::json_depth) {
      append_list(out, message_of(value), depth);
    } else {
      skip_field(value);
      out += "null";
    }
  }
}

/// Parses one entry of `map<string, google.protobuf.Value>`.
Hyperparameter parse_entry(pbf_reader entry) {
  Hyperparameter parameter{{}, "null"};
  while (next_field(entry)) {
    if (entry.tag() == 1) {
      parameter.name = text_of(entry);
    } else if (entry.tag() == 2) {
      parameter.json.clear();
      append_value(parameter.json, message_of(entry), 0);
    } else {
      skip_field(entry);
    }
  }
  return parameter;
}

void scan_session_start(pbf_reader session, std::vector<Hyperparameter>& found) {
  while (next_field(session)) {
    if (session.tag() == 1) {
      found.push_back(parse_entry(message_of(session)));
    } else {
      skip_field(session);
    }
  }
}

/// Sorts entries by name, and removes all but the last of each name.
void keep_last_of_each(std::vector<Hyperparameter>& found) {
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto same = [](const auto& a, const auto& b) { return a.name == b.name; };
  found.erase(found.begin(), std::unique(found.rbegin(), found.rend(), same).base());
}

}  // namespace

std::vector<Hyperparameter> hyperparameters(std::span<const std::byte> content) {
  std::vector<Hyperparameter> found;
  try {
    pbf_reader reader = reader_of(content);
    while (next_field(reader)) {
      if (reader.tag() == 3) {  // session_start_info
        scan_session_start(message_of(reader), found);
      } else {
        skip_field(reader);
      }
    }
  } catch (const protozero::exception&) {
    return {};
  }
  keep_last_of_each(found);
  return found;
}

}  // namespace smd::detail::wire
