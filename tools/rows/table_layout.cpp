// SPDX-License-Identifier: Apache-2.0
#include "rows/table_layout.hpp"

#include "cli/text.hpp"
#include "draw/curve.hpp"

#include <algorithm>

namespace smd::tool {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_curve = 10;
constexpr std::string_view missing = "NA";

}  // namespace

TableLayout::TableLayout(const TableShape& shape, bool header, bool ascii) : with_header_(header), ascii_(ascii) {
  for (std::size_t i = 0; i < shape.names.size(); ++i) {
    columns_.push_back({.name = printable(shape.names[i], ascii),
                        .align = shape.aligns[i],
                        .keep = shape.asked[i] || shape.curves[i],
                        .curve = shape.curves[i],
                        .if_any = shape.if_any[i],
                        .same = {}});
  }
}

bool TableLayout::has_curve() const noexcept {
  return std::any_of(columns_.begin(), columns_.end(), [](const TableColumn& column) { return column.curve; });
}

std::size_t TableLayout::total_width() const {
  std::size_t total = 0;
  for (const TableColumn& column : columns_) {
    total += column.shown ? column.width + (total == 0 ? 0 : gap) : 0;
  }
  return total;
}

void TableLayout::make(std::span<const TableRow> rows, std::optional<std::size_t> width) {
  made_ = true;
  line_width_ = width.value_or(0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    TableColumn& column = columns_[i];
    column.shown = !column.if_any || column.keep ||
                   std::any_of(rows.begin(), rows.end(), [&](const TableRow& row) { return row.cells[i] != missing; });
    column.same = column.shown ? std::string() : std::string(missing);
    column.width = with_header_ ? display_width(column.name) : 0;
    for (const TableRow& row : rows) {
      column.width = std::max(column.width, display_width(row.cells[i]));
    }
    column.width = column.curve ? std::max(column.width, least_curve) : column.width;
  }
  if (width && (has_curve() || total_width() > *width)) {
    leave_out_same(rows);
  }
  const std::size_t total = total_width();
  for (TableColumn& column : columns_) {
    column.width += column.curve && width && *width > total ? *width - total : 0;
  }
}

// In a single row everything is the same: then only descriptive columns are left out, not counts and measurements.
void TableLayout::leave_out_same(std::span<const TableRow> rows) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    TableColumn& column = columns_[i];
    const std::string& first = rows.front().cells[i];
    const bool same = rows.size() == 1 ? i != 0 && column.align == Align::left
                                       : std::all_of(rows.begin(), rows.end(),
                                                     [&](const TableRow& row) { return row.cells[i] == first; });
    column.shown = column.keep || !same;
    column.same = column.shown ? std::string() : first;
  }
  if (std::none_of(columns_.begin(), columns_.end(), [](const TableColumn& column) { return column.shown; })) {
    columns_.back().shown = true;
  }
}

bool TableLayout::fits(const TableRow& row) {
  bool all_same = true;
  for (std::size_t i = 0; made_ && i < columns_.size(); ++i) {
    if (!columns_[i].shown && columns_[i].same != row.cells[i]) {
      columns_[i].keep = true;
      all_same = false;
    }
  }
  return made_ && all_same;
}

std::string TableLayout::same_in_all(std::string_view beginning) const {
  std::string text;
  std::string line(beginning);
  const std::string_view* before = &beginning;
  static constexpr std::string_view comma = ", ";
  for (const TableColumn& column : columns_) {
    if (column.shown || (column.if_any && column.same == missing)) {
      continue;
    }
    const std::string part = column.name + " " + column.same;
    if (before != &beginning && display_width(line) + comma.size() + display_width(part) > line_width_) {
      text += line + ",\n";
      line = part;
    } else {
      line += (before == &beginning ? std::string_view() : comma);
      line += part;
    }
    before = &comma;
  }
  return before == &beginning ? std::string() : text + line + "\n";
}

std::string TableLayout::header() const {
  if (!with_header_) {
    return {};
  }
  std::vector<std::string> names;
  for (const TableColumn& column : columns_) {
    names.push_back(column.name);
  }
  return aligned(names);
}

std::string TableLayout::line(const TableRow& row) const {
  const auto with_curve =
      std::find_if(columns_.begin(), columns_.end(), [](const TableColumn& column) { return column.curve; });
  if (with_curve == columns_.end()) {
    return aligned(row.cells) + "\n";
  }
  std::vector<std::string> cells = row.cells;
  cells[static_cast<std::size_t>(with_curve - columns_.begin())] = curve_text(row.curve, with_curve->width, ascii_);
  return aligned(cells) + "\n";
}

std::string TableLayout::aligned(const std::vector<std::string>& cells) const {
  std::string text;
  std::size_t at = 0;     // how far the text goes,
  std::size_t start = 0;  // and where the next column should begin
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const TableColumn& column = columns_[i];
    if (!column.shown) {
      continue;
    }
    const std::size_t width = display_width(cells[i]);
    const std::size_t wanted =
        column.align == Align::right && width < column.width ? start + column.width - width : start;
    const std::size_t begin = text.empty() && at == 0 ? wanted : std::max(wanted, at + gap);
    if (width != 0) {  // no spaces at the end of a line
      text.append(begin - at, ' ');
      text += cells[i];
      at = begin + width;
    }
    start += column.width + gap;
  }
  return text;
}

}  // namespace smd::tool
