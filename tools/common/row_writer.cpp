// SPDX-License-Identifier: Apache-2.0
#include "row_writer.hpp"

#include "row_format.hpp"
#include "text.hpp"

#include <algorithm>
#include <iterator>

namespace smd::tool {

namespace {

constexpr std::string_view trial_column = "trial";

std::string known_names(std::span<const Column> columns) {
  std::string text(trial_column);
  for (const Column& column : columns) {
    text += ", ";
    text += column.name;
  }
  return text;
}

}  // namespace

RowWriter::RowWriter(OutputFile& out, const OutputOptions& options, std::span<const Column> columns,
                     bool several_trials, Diagnostics& messages)
    : out_(out), columns_(columns.begin(), columns.end()) {
  const bool json = options.json();
  const auto wanted_trial = std::find(options.columns.begin(), options.columns.end(), trial_column);
  const bool chooses_trial = wanted_trial != options.columns.end();
  if (options.columns.empty() ? json || several_trials || options.with_trial : options.with_trial && !chooses_trial) {
    chosen_.emplace_back(std::nullopt);
  }
  for (const std::string& name : options.columns) {
    const auto column = std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
    if (name == trial_column) {
      chosen_.emplace_back(std::nullopt);
    } else if (column != columns_.end()) {
      chosen_.emplace_back(static_cast<std::size_t>(column - columns_.begin()));
    } else {
      throw UsageError("--columns: " + quoted(name) + " is not one of " + known_names(columns_));
    }
  }
  for (std::size_t i = 0; options.columns.empty() && i < columns_.size(); ++i) {
    if (json ? columns_[i].in_json : columns_[i].in_text) {
      chosen_.emplace_back(i);
    }
  }
  all_chosen_ = chosen_.size() == columns_.size();
  for (std::size_t i = 0; all_chosen_ && i < chosen_.size(); ++i) {
    all_chosen_ = chosen_[i] == i;
  }
  const MakeRowFormat make = find_row_format(options.format, chosen_.size());
  if (make == nullptr) {
    throw UsageError("--format: " + quoted(options.format) + " does not hold rows");
  }
  TableShape shape;
  for (const std::optional<std::size_t> index : chosen_) {
    shape.names.push_back(index ? columns_[*index].name : trial_column);
    shape.aligns.push_back(index ? columns_[*index].align : Align::left);
  }
  format_ = make({out, options, messages, std::move(shape)});
}

RowWriter::~RowWriter() = default;

ColumnTable column_table(std::string when, std::span<const Column> columns, std::string_view more) {
  ColumnTable table{std::move(when), {trial_column}, more, {}};
  std::transform(columns.begin(), columns.end(), std::back_inserter(table.names),
                 [](const Column& column) { return column.name; });
  return table;
}

bool RowWriter::wants(std::string_view column) const noexcept {
  return std::any_of(chosen_.begin(), chosen_.end(), [&](const std::optional<std::size_t>& index) {
    return (index ? columns_[*index].name : trial_column) == column;
  });
}

void RowWriter::row(std::span<const Cell> cells) {
  if (rows_ == 0) {
    format_->begin();
  }
  ++rows_;
  if (out_.discards()) {
    return;
  }
  if (all_chosen_) {
    format_->row(cells);
    return;
  }
  picked_.clear();
  for (const std::optional<std::size_t> index : chosen_) {
    picked_.push_back(index ? cells[*index] : Cell(trial_));
  }
  format_->row(picked_);
}

bool RowWriter::rows_stand_alone() const noexcept {
  return format_->rows_stand_alone() && !out_.is_terminal() && !out_.discards();
}

void RowWriter::append(std::string_view text, std::size_t rows) {
  if (rows == 0) {
    return;
  }
  if (rows_ == 0) {
    format_->begin();
  }
  rows_ += rows;
  out_.write(text);
}

void RowWriter::end_step() { format_->end_step(); }

void RowWriter::finish() { format_->end(); }

}  // namespace smd::tool
