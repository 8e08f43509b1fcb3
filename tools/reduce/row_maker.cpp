// SPDX-License-Identifier: Apache-2.0
#include "row_maker.hpp"

#include "row_source.hpp"
#include "rows/written.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace smd::tool::reduce {

namespace {

constexpr std::uint32_t few_files = 8;  // that are looked through one by one

}  // namespace

RowMaker::RowMaker(const Session& session, const ReduceCommandOptions& options, const std::vector<Wanted>& wanted,
                   const ResultView& view)
    : session_(session),
      options_(options),
      wanted_(wanted),
      text_view_(view.row_text()),
      sink_(options.reduce, options.slice ? &*options.slice : nullptr, options.shard.has_value()),
      plans_(wanted),
      how_(wanted.size()) {}

void RowMaker::clear() {
  rows_.clear();
  failed_.clear();
  partials_.clear();
  records_.clear();
  file_count_ = last_file_ = 0;
  file_ids_.clear();
  names_.clear();
  if (any_unavailable_) {
    unavailable_.clear();
    any_unavailable_ = false;
  }
  said_.clear();
}

void RowMaker::make(const Piece& piece, BlockReader& reader) {
  clear();
  session_.for_each_entry(options_, piece.tensors, piece.steps, [&](const TensorEntry& entry) {
    take(entry);
    return true;
  });
  statistics_.resize(rows_.size() * wanted_.size());
  std::fill(statistics_.begin(), statistics_.end(), Statistic());
  if (options_.shard) {
    partials_.resize(rows_.size());
  }
  read(reader);
  text_rows_ = 0;
  if (text_view_) {
    ResultRow row;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (fill(i, row)) {
        text_view_->row(row);
        ++text_rows_;
      }
    }
    text_view_->take(text_);
  }
}

void RowMaker::take(const TensorEntry& entry) {
  const RowPlan& plan = plan_of(entry);
  const auto index = static_cast<std::uint32_t>(rows_.size());
  rows_.push_back(
      {entry.tensor, entry.worker, entry.step, entry.mode, entry.mode_step, entry.superseded, place_of(entry), &plan});
  if (plan.lacks) {
    unavailable_.lacks(entry, plan, wanted_);
    any_unavailable_ = true;
  }
  if (!plan.computed.empty()) {
    records_.push_back({file_of(entry.value->file), index, entry.value->offset, entry.value->length, entry.tensor,
                        RecordToRead::value, entry.value->bare});
  }
  if (entry.reductions.empty()) {
    return;
  }
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (plan.how[i] == How::saved) {
      const auto saved = std::find_if(entry.reductions.begin(), entry.reductions.end(),
                                      [&](const SavedReduction& one) { return one.name == wanted_[i].name; });
      const std::string& name = names_.emplace_back(reduction_tensor_name(saved->name, entry.tensor));
      records_.push_back({file_of(saved->location.file), index, saved->location.offset, saved->location.length, name, i,
                          saved->location.bare});
    }
  }
}

const RowPlan& RowMaker::plan_of(const TensorEntry& entry) {
  const bool has_value = entry.value.has_value();
  const bool plain = entry.reductions.empty();
  if (plain && plain_[has_value ? 1 : 0] != nullptr) {
    return *plain_[has_value ? 1 : 0];
  }
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const bool saved = std::any_of(entry.reductions.begin(), entry.reductions.end(),
                                   [&](const SavedReduction& one) { return one.name == wanted_[i].name; });
    how_[i] = how_of(options_, wanted_[i], saved, has_value);
  }
  const RowPlan& plan = plans_.of(how_);
  if (plain) {
    plain_[has_value ? 1 : 0] = &plan;
  }
  return plan;
}

// Workers take turns from entry to entry, so the next file is mostly the one after the last.
std::uint32_t RowMaker::file_of(const std::string& name) {
  for (std::uint32_t tries = 0; tries < std::min(few_files, file_count_); ++tries) {
    if (files_[last_file_] == name) {
      return last_file_;
    }
    last_file_ = last_file_ + 1 == file_count_ ? 0 : last_file_ + 1;
  }
  if (file_count_ > few_files) {
    if (file_ids_.empty()) {
      for (std::uint32_t id = 0; id < file_count_; ++id) {
        file_ids_.emplace(files_[id], id);
      }
    }
    if (const auto known = file_ids_.find(name); known != file_ids_.end()) {
      return last_file_ = known->second;
    }
    file_ids_.emplace(name, file_count_);
  }
  if (file_count_ == files_.size()) {
    files_.emplace_back();
  }
  files_[file_count_] = name;
  return last_file_ = file_count_++;
}

// Reads records in the order of file names and of their places in files, whatever the order of rows.
void RowMaker::read(BlockReader& reader) {
  std::vector<std::uint32_t> by_name(file_count_);
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::sort(by_name.begin(), by_name.end(), [this](std::uint32_t a, std::uint32_t b) { return files_[a] < files_[b]; });
  std::vector<std::size_t> ends(file_count_ + 1);  // by file: first how many, then where its records end
  for (const RecordToRead& record : records_) {
    ++ends[record.file];
  }
  std::size_t end = 0;
  for (const std::uint32_t file : by_name) {
    end += std::exchange(ends[file], end);
  }
  std::vector<RecordToRead> sorted(records_.size());
  for (const RecordToRead& record : records_) {
    sorted[ends[record.file]++] = record;
  }
  records_.swap(sorted);
  std::size_t begin = 0;
  for (const std::uint32_t file : by_name) {
    const std::span<RecordToRead> records = std::span(records_).subspan(begin, ends[file] - begin);
    const auto before = [](const RecordToRead& a, const RecordToRead& b) { return a.offset < b.offset; };
    if (!std::is_sorted(records.begin(), records.end(), before)) {
      std::stable_sort(records.begin(), records.end(), before);
    }
    read_file(files_[file], records, reader);
    begin = ends[file];
  }
}

void RowMaker::read_file(const std::string& file, std::span<const RecordToRead> records, BlockReader& reader) {
  ranges_.clear();
  for (const RecordToRead& record : records) {
    ranges_.push_back({record.offset, record.length, record.name, record.bare.get()});
  }
  aim(records.front());
  reader.read(file, ranges_, sink_, [&](std::size_t i, std::optional<Problem>&& problem) {
    finish(records[i], problem);
    if (i + 1 < records.size()) {
      aim(records[i + 1]);
    }
    return true;
  });
}

void RowMaker::aim(const RecordToRead& record) {
  sink_.aim(record.statistic == RecordToRead::value ? rows_[record.row].plan : nullptr);
}

void RowMaker::finish(const RecordToRead& record, const std::optional<Problem>& problem) {
  if (problem) {
    const Row& row = rows_[record.row];
    said_.emplace_back([this, problem = *problem, tensor = row.tensor, step = row.step](Diagnostics& messages) {
      report(problem, tensor, step, session_.trial, messages);
    });
    fail(record);
  } else if (record.statistic != RecordToRead::value) {
    take_saved(record);
  } else {
    take_computed(record);
  }
}

void RowMaker::take_saved(const RecordToRead& record) {
  if (sink_.dtype() != Dtype::string && !sink_.saved().missing()) {
    statistics_of(record.row)[record.statistic] = sink_.saved();
    return;
  }
  const Row& row = rows_[record.row];
  said_.emplace_back([tensor = row.tensor, step = row.step, name = std::string_view(wanted_[record.statistic].name)](
                         Diagnostics& messages) { report_no_number(tensor, step, name, messages); });
  fail(record);
}

void RowMaker::take_computed(const RecordToRead& record) {
  const Row& row = rows_[record.row];
  if (!sink_.slice_error().empty()) {
    said_.emplace_back([tensor = row.tensor, why = sink_.slice_error()](Diagnostics& messages) {
      report_slice(tensor, why, messages);
    });
    fail(record);
    return;
  }
  if (sink_.dtype() == Dtype::string) {
    unavailable_.string(row.tensor);
    any_unavailable_ = true;
    fail(record);
    return;
  }
  if (options_.shard && !is_complex(sink_.dtype())) {
    partials_[record.row] = sink_.partial();
  }
  const std::span<const ReducedValue> values = sink_.values();
  const std::span<Statistic> statistics = statistics_of(record.row);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t position = row.plan->positions[i];
    if (values[i].kind == ReducedValue::Kind::undefined) {
      unavailable_.undefined(wanted_[position].name, row.tensor);
      any_unavailable_ = true;
    }
    if (values[i].kind == ReducedValue::Kind::real) {
      statistics[position].set(values[i].real);
    } else {
      statistics[position] = Statistic::of(values[i]);
    }
  }
}

void RowMaker::fail(const RecordToRead& record) {
  failed_.resize(statistics_.size());
  const std::size_t first = record.row * wanted_.size();
  if (record.statistic != RecordToRead::value) {
    failed_[first + record.statistic] = true;
    return;
  }
  for (const std::size_t position : rows_[record.row].plan->positions) {
    failed_[first + position] = true;
  }
}

bool RowMaker::fill(std::size_t index, ResultRow& row) {
  const Row& from = rows_[index];
  const std::span<const Statistic> statistics = statistics_of(index);
  bool damaged = false;
  for (std::size_t i = 0; i < statistics.size() && !failed_.empty(); ++i) {
    damaged = damaged || failed_[index * wanted_.size() + i];
  }
  const RowSource source(statistics, *from.plan);
  if (damaged && source.nothing()) {
    return false;
  }
  row.tensor = from.tensor;
  row.worker = from.worker;
  row.step = from.step;
  row.mode = from.mode;
  row.mode_step = from.mode_step;
  row.superseded = from.superseded;
  row.written = from.written;
  row.source = source.text();
  row.statistics = statistics;
  if (options_.shard) {
    source.tell_part(row, session_, options_, partials_[index]);
  }
  return true;
}

bool RowMaker::show(ResultView& view, Diagnostics& messages) {
  for (const Said& said : said_) {
    said(messages);
  }
  if (text_view_) {
    view.append(text_, text_rows_);
    return text_rows_ != 0;
  }
  ResultRow row;
  bool any = false;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (fill(i, row)) {
      view.row(row);
      any = true;
    }
  }
  return any;
}

}  // namespace smd::tool::reduce
