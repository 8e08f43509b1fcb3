// SPDX-License-Identifier: Apache-2.0
#include "rows/row_writer.hpp"

#include "cli/mapped.hpp"
#include "cli/option_hints.hpp"
#include "cli/text.hpp"
#include "rows/packed_row.hpp"
#include "rows/row_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace smd::tool {

namespace {

constexpr std::string_view trial_column = "trial";

}  // namespace

RowWriter::RowWriter(OutputFile& out, const OutputOptions& options, std::span<const Column> columns,
                     bool several_trials, Diagnostics& messages)
    : out_(out),
      columns_(columns.begin(), columns.end()),
      messages_(&messages),
      limit_(options.limit),
      json_(options.json()) {
  OutputOptions asked = options;
  asked.join_names(mapped(columns_, &Column::name));
  const bool all = asked.columns.size() == 1 && asked.columns.front() == "all";
  const bool by_default = all || asked.columns.empty();
  trial_column_ = columns_.empty() || !columns_.front().for_trial;
  if (trial_column_ &&  // else rows pool several trials
      (by_default ? json_ || several_trials || options.with_trial
                  : options.with_trial && !contains(asked.columns, trial_column))) {
    chosen_.emplace_back(std::nullopt);
  }
  if (!by_default) {
    for (const std::string& name : asked.columns) {
      chosen_.push_back(find_column("--columns", name, options.column_hint));
    }
  }
  const bool table = options.format == "table";
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& one = columns_[i];
    const bool asked = all && !one.sort_only && (!json_ || !one.in_text);  // what is for text alone repeats JSON's
    const bool shown = json_ ? one.in_json : one.in_text && (!table || one.in_table);
    if (by_default && (shown || asked)) {
      chosen_.emplace_back(i);
    }
  }
  sort_by_ =
      mapped(asked.sort, [&](const SortKey& key) { return find_column("--sort", key.column, options.column_hint); });
  if (!asked.sort.empty()) {
    sorted_.emplace(asked.sort, options.limit);
  }
  for (const Comparison& condition : options.where) {
    where_.emplace_back(find_column("--where", condition.name, options.column_hint), RowCondition(condition));
  }
  const MakeRowFormat make = find_row_format(options.format, chosen_.size());
  refuse_if(make == nullptr, "--format: " + single_quoted(options.format) + " does not hold rows");
  std::vector<Column> printed;
  for (const std::optional<std::size_t> index : chosen_) {
    Column& column = printed.emplace_back(index ? columns_[*index] : Column{.name = trial_column});
    column.asked = !asked.columns.empty() || (index ? column.asked : options.with_trial);
    column.if_any = column.if_any && asked.columns.empty();
  }
  wanted_ = mapped(columns_, [this](const Column& column) { return wants(column.name); });
  format_ = make({out, options, messages, std::move(printed)});
}

/// Rows that wait for their turn.
struct RowWriter::HeldRows {
  /// A packed row, or the text of several rows.
  struct Piece {
    std::string bytes;
    std::size_t rows;  // of a text; 0: one packed row
  };
  RowWriter& to;
  Turn& turn;
  std::vector<Piece> pieces = {};
  std::size_t bytes = 0;

  static constexpr std::size_t most_bytes = std::size_t{128} << 10;
};

RowWriter::RowWriter(RowWriter& to, Turn& turn)
    : out_(to.out_),
      columns_(to.columns_),
      chosen_(to.chosen_),
      sort_by_(to.sort_by_),
      limit_(to.sorted_ ? std::nullopt : to.limit_),
      json_(to.json_),
      wanted_(to.wanted_),
      held_(new HeldRows{to, turn}) {
  for (const auto& [index, condition] : to.where_) {
    where_.emplace_back(index, RowCondition(condition.comparison()));
  }
}

RowWriter::~RowWriter() = default;

void RowWriter::show() {
  const AboutTrial about(trial_);  // as when rows are shown during the visit to their trial
  RowWriter& to = held_->to;
  if (to.trial_ != trial_) {
    to.set_trial(trial_);
  }
  UnpackedRow unpacked;
  for (const HeldRows::Piece& piece : held_->pieces) {
    if (piece.rows > 0) {
      to.append(piece.bytes, piece.rows);
    } else {
      to.row(unpacked.cells(piece.bytes));
    }
  }
  held_->pieces.clear();
  held_->bytes = 0;
}

void RowWriter::hold(std::string&& piece, std::size_t rows) {
  held_->bytes += piece.size();
  held_->pieces.push_back({std::move(piece), rows});
  if (held_->bytes > HeldRows::most_bytes) {
    held_->turn.wait();
    show();
  }
}

std::optional<std::size_t> RowWriter::find_column(std::string_view option, const std::string& name,
                                                  std::string_view hint) const {
  if (name == trial_column && trial_column_) {
    return std::nullopt;
  }
  const bool to_sort = option == "--sort";
  const auto column =
      std::ranges::find_if(columns_, [&](const Column& c) { return c.name == name && (to_sort || !c.sort_only); });
  if (column == columns_.end()) {
    refuse_if(name == "all" && option == "--columns", "--columns: all stands for every column: give it alone");
    std::vector<std::string_view> known(trial_column_ ? 1 : 0, trial_column);
    for (const Column& one : columns_) {
      if (to_sort || !one.sort_only) {
        known.push_back(one.name);
      }
    }
    throw UsageError(fmt::format("{}: {}{}", option, not_one_of(name, known), hint));
  }
  return static_cast<std::size_t>(column - columns_.begin());
}

ColumnTable column_table(std::string when, std::span<const Column> columns, std::string_view more) {
  ColumnTable table{.when = std::move(when), .names = {trial_column}, .more = more};
  for (const Column& column : columns) {
    (column.sort_only ? table.sort_only : table.names).push_back(column.name);
  }
  return table;
}

bool RowWriter::wants(std::string_view column) const noexcept {
  const auto is_it = [&](const std::optional<std::size_t>& index) {
    return (index ? columns_[*index].name : trial_column) == column;
  };
  return std::ranges::any_of(chosen_, is_it) || std::ranges::any_of(sort_by_, is_it) ||
         std::ranges::any_of(where_, [&](const auto& condition) { return is_it(condition.first); });
}

std::span<const Cell> RowWriter::chosen(std::span<const Cell> cells) {
  picked_.clear();
  for (const std::optional<std::size_t> index : chosen_) {
    picked_.push_back(index ? cells[*index] : Cell(trial_));
  }
  return picked_;
}

Cell RowWriter::cell_for(std::string_view option, std::span<const Cell> cells, std::optional<std::size_t> index) const {
  const Cell cell = index ? cells[*index] : Cell(trial_);
  if (const auto* json = std::get_if<JsonCell>(&cell.value()); json != nullptr && json->write != nullptr) {
    throw UsageError(std::string(option) + ": " + single_quoted(columns_[*index].name) +
                     " is an array in a row of JSON: name a column of single values");
  }
  return cell;
}

void RowWriter::sort(std::span<const Cell> cells) {
  const auto value_of = [&](std::optional<std::size_t> index) { return SortValue(cell_for("--sort", cells, index)); };
  sorted_->add(mapped(sort_by_, value_of), [&] { return pack_row(chosen(cells), json_); });
}

void RowWriter::begin() {
  if (!std::exchange(begun_, true)) {
    format_->begin();
  }
}

void RowWriter::print(std::span<const Cell> chosen) {
  begin();
  format_->row(chosen);
}

void RowWriter::row(std::span<const Cell> cells) {
  const auto holds = [&](auto& condition) {
    return condition.second.holds(cell_for("--where", cells, condition.first));
  };
  if (!std::ranges::all_of(where_, holds)) {
    return;
  }
  const bool past_limit = full();
  ++rows_;
  if (out_.discards() || past_limit) {
    return;
  }
  if (held_ && !held_->turn.mine()) {
    hold(pack_row(cells, json_), 0);
  } else if (held_) {
    show();
    held_->to.row(cells);
  } else if (sorted_) {
    sort(cells);
  } else {
    print(chosen(cells));
  }
}

bool RowWriter::rows_stand_alone() const noexcept {
  if (held_) {
    return held_->to.rows_stand_alone();
  }
  return !sorted_ && !limit_ && where_.empty() && format_->rows_stand_alone() && !out_.is_terminal() &&
         !out_.discards();
}

std::optional<RowPattern> RowWriter::pattern_of(std::span<const Cell> cells, const std::vector<bool>& varies) {
  if (held_ || !rows_stand_alone()) {
    return std::nullopt;
  }
  const std::vector<bool> which =
      mapped(chosen_, [&](std::optional<std::size_t> index) { return index && varies[*index]; });
  std::optional<RowPattern> pattern = format_->pattern(chosen(cells), which);
  if (pattern) {
    for (RowPattern::Number& number : pattern->numbers) {
      number.column = *chosen_[number.column];
    }
  }
  return pattern;
}

void RowWriter::append(std::string_view text, std::size_t rows) {
  if (rows == 0) {
    return;
  }
  rows_ += rows;
  if (held_ && !held_->turn.mine()) {
    hold(std::string(text), rows);
  } else if (held_) {
    show();
    held_->to.append(text, rows);
  } else {
    begin();
    out_.write(text);
  }
}

void RowWriter::end_step() { format_->end_step(); }

void RowWriter::finish() {
  if (sorted_) {
    UnpackedRow unpacked;
    sorted_->take_all([&](const std::string& packed) { print(unpacked.cells(packed)); });
  }
  format_->end();
  if (!where_.empty() && rows_ == 0) {
    say_no_row(mapped(where_, [](const auto& condition) { return condition.second.comparison(); }), *messages_);
  }
}

}  // namespace smd::tool
