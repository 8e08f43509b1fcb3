// SPDX-License-Identifier: Apache-2.0
#include "wire/message.hpp"
#include "wire/summary.hpp"

#include "text/json.hpp"
#include "text/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace smd::detail::wire {
namespace {

using protozero::pbf_reader;

/// Appends a number; NaN and infinities, which JSON lacks, as texts.
void append_number(std::string& out, double number) {
  if (std::isfinite(number)) {
    std::array<char, 32> text{};
    out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
  } else {
    out.append("\"").append(text::word_of_non_finite(number)) += '"';
  }
}

/// Appends a google.protobuf.Value. In its oneof the last field counts. Structs, which no writer of hyperparameters
/// uses, and lists that are nested too deeply become null.
void append_value(std::string& out, pbf_reader value, std::size_t depth) {
  const std::size_t begin = out.size();
  out += "null";
  for_each_field(value, [&](pbf_reader& field) {
    if (field.tag() > 6) {
      return;
    }
    out.resize(begin);
    if (field.tag() == 2) {
      append_number(out, double_of(field));
    } else if (field.tag() == 3) {
      out += text::json_string(text_of(field));
    } else if (field.tag() == 4) {
      out += varint_of(field) != 0 ? "true" : "false";
    } else if (field.tag() == 6 && depth < limits::json_depth) {
      out += '[';
      for_each_of(1, message_of(field), [&](pbf_reader& item) {
        out += out.size() == begin + 1 ? "" : ", ";
        append_value(out, message_of(item), depth + 1);
      });
      out += ']';
    } else {
      out += "null";
    }
  });
}

/// Parses one entry of `map<string, google.protobuf.Value>`.
Hyperparameter parse_entry(pbf_reader entry) {
  Hyperparameter parameter{{}, "null"};
  for_each_field(entry, [&](pbf_reader& field) {
    if (field.tag() == 1) {
      parameter.name = text_of(field);
    } else if (field.tag() == 2) {
      parameter.json.clear();
      append_value(parameter.json, message_of(field), 0);
    }
  });
  return parameter;
}

}  // namespace

std::vector<Hyperparameter> hyperparameters(std::span<const std::byte> content) {
  std::vector<Hyperparameter> found;
  try {
    for_each_of(3, reader_of(content), [&](pbf_reader& session_start_info) {
      for_each_of(1, message_of(session_start_info),
                  [&](pbf_reader& entry) { found.push_back(parse_entry(message_of(entry))); });
    });
  } catch (const protozero::exception&) {
    return {};
  }
  // Of each name the last counts.
  std::ranges::stable_sort(found, {}, &Hyperparameter::name);
  const auto same = [](const auto& a, const auto& b) { return a.name == b.name; };
  found.erase(found.begin(), std::unique(found.rbegin(), found.rend(), same).base());
  return found;
}

}  // namespace smd::detail::wire
