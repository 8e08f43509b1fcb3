// SPDX-License-Identifier: Apache-2.0
#include "rows/table_layout.hpp"

#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "draw/curve.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace smd::tool {

namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t least_curve = 10;
constexpr std::size_t least_prose = 24;
constexpr std::string_view missing = "NA";

}  // namespace

TableLayout::TableLayout(std::span<const Column> columns, bool header, bool ascii, bool color)
    : with_header_(header), ascii_(ascii), color_(color) {
  for (const Column& column : columns) {
    columns_.push_back({column, printable(column.name, ascii), column.asked || column.curve});
  }
}

bool TableLayout::has_curve() const noexcept {
  return std::ranges::any_of(columns_, [](const TableColumn& column) { return column.curve; });
}

std::size_t TableLayout::total_width() const {
  std::size_t total = 0;
  for (const TableColumn& column : columns_) {
    total += column.shown ? column.width + (total == 0 ? 0 : gap) : 0;
  }
  return total;
}

void TableLayout::make(std::span<const TableRow> rows, std::optional<std::size_t> width, bool drop) {
  made_ = true;
  line_width_ = width.value_or(0);
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    TableColumn& column = columns_[i];
    column.shown = !column.if_any || column.keep ||
                   std::ranges::any_of(rows, [&](const TableRow& row) { return row.cells[i] != missing; });
    column.same = column.shown ? std::string() : std::string(missing);
    column.dropped = false;
    column.others.clear();
    column.width = with_header_ ? display_width(column.heading) : 0;
    for (const TableRow& row : rows) {
      column.width = std::max(column.width, display_width(row.cells[i]));
    }
    column.width = column.curve ? std::max(column.width, least_curve) : column.width;
  }
  if (width && (has_curve() || total_width() > *width)) {
    leave_out_same(rows);
  }
  if (width && drop) {
    drop_from_the_right();
  }
  const std::size_t total = total_width();
  for (TableColumn& column : columns_) {
    const bool fills_line = column.curve || (column.prose && &column == &columns_.back());
    column.width += fills_line && width && *width > total ? *width - total : 0;
  }
}

// In a single row everything is the same: then only descriptive columns are left out, not counts and measurements.
void TableLayout::leave_out_same(std::span<const TableRow> rows) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    TableColumn& column = columns_[i];
    const std::string& first = rows.front().cells[i];
    const bool same = rows.size() == 1
                          ? i != 0 && column.align == Align::left
                          : std::ranges::all_of(rows, [&](const TableRow& row) { return row.cells[i] == first; });
    column.shown = column.keep || column.measured || column.prose || !same;
    column.same = column.shown ? std::string() : first;
  }
  if (std::ranges::none_of(columns_, [](const TableColumn& column) { return column.shown; })) {
    columns_.back().shown = true;
  }
}

void TableLayout::drop_from_the_right() {
  if (total_width() <= line_width_) {
    return;
  }
  const auto first = std::ranges::find(columns_, true, &TableColumn::shown);
  TableColumn& last = columns_.back();
  last.width = last.prose ? std::min(last.width, least_prose) : last.width;
  const auto drop_if_too_wide = [this](TableColumn& column) {
    column.dropped = column.shown && !column.keep && total_width() > line_width_;
    column.shown = column.shown && !column.dropped;
  };
  for (auto column = columns_.end() - (last.prose ? 1 : 0); column - first > 1;) {
    drop_if_too_wide(*--column);
  }
  if (columns_.end() - first > 1 && last.prose) {
    drop_if_too_wide(last);
  }
}

std::string TableLayout::joined(std::string_view beginning, const std::vector<std::string>& parts) const {
  constexpr std::string_view comma = ", ";
  std::string text;
  std::string line(beginning);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t comma_behind = i + 1 < parts.size() ? 1 : 0;
    if (i > 0 && display_width(line) + comma.size() + display_width(parts[i]) + comma_behind > line_width_) {
      text += line + ",\n";
      line = parts[i];
    } else {
      line += (i == 0 ? "" : comma);
      line += parts[i];
    }
  }
  return parts.empty() ? std::string() : text + line + "\n";
}

std::string TableLayout::same_in_all() const {
  std::vector<std::string> parts;
  for (const TableColumn& column : columns_) {
    if (!column.shown && !column.dropped && (!column.if_any || column.same != missing)) {
      parts.push_back(column.heading + " " + column.same);
    }
  }
  return joined("all rows: ", parts);
}

std::string TableLayout::below() const {
  std::vector<std::string> differ;
  std::vector<std::string> dropped;
  for (const TableColumn& column : columns_) {
    if (!column.others.empty()) {
      differ.push_back(fmt::format("{} {}", column.heading, fmt::join(column.others, " ")));
    }
    if (column.dropped) {
      dropped.push_back(column.heading);
    }
  }
  std::string text = joined("but in later rows: ", differ);
  if (dropped.empty()) {
    return text;
  }
  constexpr std::string_view end = "; --columns all";
  constexpr std::size_t blank_and_more = 4;
  std::string line = counted(dropped.size(), "more column") + ": ";
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    const std::string part = (i == 0 ? "" : ", ") + dropped[i];
    if (display_width(line + part) + blank_and_more + end.size() > line_width_) {
      line += std::string(i == 0 ? "" : " ") + (ascii_ ? "..." : "…");
      break;
    }
    line += part;
  }
  return text + line + std::string(end) + "\n";
}

std::string TableLayout::header() const {
  return with_header_ ? aligned(mapped(columns_, &TableColumn::heading), {}) : std::string();
}

std::string TableLayout::line(const TableRow& row) {
  constexpr std::size_t most_others = 3;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::vector<std::string>& others = columns_[i].others;
    if (!columns_[i].shown && !columns_[i].dropped && columns_[i].same != row.cells[i] && others.size() < most_others) {
      add_once(others, row.cells[i]);
    }
  }
  const auto with_curve = std::ranges::find_if(columns_, [](const TableColumn& column) { return column.curve; });
  if (with_curve == columns_.end()) {
    return broken(row);
  }
  std::vector<std::string> cells = row.cells;
  cells[static_cast<std::size_t>(with_curve - columns_.begin())] = curve_text(row.curve, with_curve->width, ascii_);
  return aligned(cells, row.coloured) + "\n";
}

std::string TableLayout::broken(const TableRow& row) const {
  const TableColumn& last = columns_.back();
  if (!last.prose || !last.shown || line_width_ == 0 || display_width(row.cells.back()) <= last.width) {
    return aligned(row.cells, row.coloured) + "\n";
  }
  std::string text;
  std::vector<std::string> cells = row.cells;
  const std::string lines = wrapped(row.cells.back(), last.width, 0);
  for (const std::string_view line : split(std::string_view(lines).substr(0, lines.size() - 1), "\n")) {
    cells.back() = line;
    text += aligned(cells, row.coloured) + "\n";
    cells.assign(cells.size(), {});
  }
  return text;
}

std::string TableLayout::aligned(const std::vector<std::string>& cells,
                                 const std::vector<std::size_t>& coloured) const {
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
      text += color_ && contains(coloured, i) ? "\x1b[31m" + cells[i] + "\x1b[0m" : cells[i];
      at = begin + width;
    }
    start += column.width + gap;
  }
  return text;
}

}  // namespace smd::tool
