// SPDX-License-Identifier: Apache-2.0
#include "rows/row_format.hpp"

#include "rows/picture_options.hpp"

#include <algorithm>
#include <array>

namespace smd::tool {

namespace {

struct KnownFormat {
  std::string_view name;
  MakeRowFormat make;
  bool list_if_one_column;  // `tsv` and `table` of one column are bare lists
};

// The one table of row formats; `text` is what some commands call `table`.
constexpr std::array<KnownFormat, 6> formats = {{
    {"table", make_table_format, true},
    {"tsv", make_tsv_format, true},
    {"csv", make_csv_format, false},
    {"json", make_json_format, false},
    {"jsonl", make_json_format, false},
    {"text", make_table_format, true},
}};

constexpr std::array<std::string_view, 6> names = {"table", "tsv", "csv", "json", "jsonl", svg_format};

}  // namespace

MakeRowFormat find_row_format(std::string_view name, std::size_t columns) noexcept {
  const auto format = std::ranges::find(formats, name, &KnownFormat::name);
  if (format == formats.end()) {
    return nullptr;
  }
  return format->list_if_one_column && columns == 1 ? make_list_format : format->make;
}

std::span<const std::string_view> row_format_names() noexcept { return std::span(names).first(names.size() - 1); }

std::span<const std::string_view> row_and_picture_format_names() noexcept { return names; }

}  // namespace smd::tool
