// SPDX-License-Identifier: Apache-2.0
#include <smd/column.hpp>

#include "text/mapped.hpp"
#include "trial/trial_state.hpp"

#include <smd/elements.hpp>
#include <smd/snapshot.hpp>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace smd {

using detail::layout::RowSequence;
using detail::trial::Snapshot;

namespace {

/// Numbers that were read or copied, of one worker, mode and type.
struct Numbers {
  std::vector<std::int64_t> steps;
  std::vector<std::int64_t> mode_steps;
  std::vector<std::uint64_t> bits;
  std::vector<double> times;
};

/// One value of the tensor.
struct Entry {
  std::string_view worker;
  Mode mode = Mode::global;
  std::int64_t step = 0;
  std::int64_t mode_step = 0;
  Dtype dtype = Dtype::float32;
  std::uint64_t bits = 0;
  double wall_time = 0;
  bool is_number = false;
  bool has_axes = false;
  std::optional<Problem> problem = {};
};

/// Entries that one thread reads at a time.
constexpr std::size_t batch_entries = 1024;

/// Reads the values of entries that are in files.
void read_numbers(const Trial& trial, std::span<const WantedValue> wanted, std::span<const std::size_t> places,
                  std::vector<Entry>& entries, const ReadOptions& options) {
  const std::size_t batches = (wanted.size() + batch_entries - 1) / batch_entries;
  parallel_read(trial, reading_loop(trial, batches, options), options, [&](const LoopIndex& at, ValueReader& reader) {
    const std::size_t first = at.index * batch_entries;
    const std::span<const WantedValue> batch = wanted.subspan(first, std::min(batch_entries, wanted.size() - first));
    reader.read_each(
        batch,
        [&](std::size_t i, Extent& value) {
          Entry& entry = entries[places[first + i]];
          entry.dtype = value.dtype();
          entry.wall_time = value.wall_time();
          entry.is_number = is_real(value.dtype()) && value.size() == 1;
          entry.has_axes = !value.shape().empty();
          if (entry.is_number) {
            const std::span<const std::byte> element = value.view(0, 1);
            std::memcpy(&entry.bits, element.data(), std::min(element.size(), sizeof entry.bits));
          }
        },
        [&](std::size_t i, const std::optional<Problem>& problem) { entries[places[first + i]].problem = problem; });
  });
}

}  // namespace

double ColumnPart::value(std::size_t i) const {
  const std::uint64_t bits = number(i);
  if (dtype_ == Dtype::float32) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  }
  if (dtype_ == Dtype::float64) {
    return std::bit_cast<double>(bits);
  }
  double value = 0;
  copy_as_doubles(TensorView(dtype_, {}, std::as_bytes(std::span(&bits, 1)).first(number_bytes_)), 0, {&value, 1});
  return value;
}

std::size_t ScalarColumn::size() const noexcept {
  return std::accumulate(parts_.begin(), parts_.end(), std::size_t{0},
                         [](std::size_t sum, const ColumnPart& part) { return sum + part.size(); });
}

std::optional<ScalarColumn> ScalarColumn::held(const Trial& trial, std::string_view tensor) {
  const std::shared_ptr<const Snapshot> snapshot = detail::TrialAccess::state(trial).snapshot();
  const detail::trial::Catalog& catalog = snapshot->catalog;
  const std::uint32_t id = catalog.tensors().find(tensor);
  if (id == detail::trial::no_id || snapshot->steps.empty() || !snapshot->complete(snapshot->steps.last().number)) {
    return std::nullopt;
  }
  ScalarColumn column;
  column.owner_ = snapshot;
  const auto add = [&](const RowSequence& rows) {
    const std::span<const SavedItem> items = catalog.items(rows.row).of(id);
    if (items.empty()) {
      return !detail::trial::has_tensor(*snapshot, rows.row, id);
    }
    const detail::layout::Payload payload = catalog.payload(rows.row);
    const std::uint32_t position = items.front().position;
    const ValueType& type = catalog.type(payload, position);
    if (items.size() != 1 || !items.front().is_value() || type.form != ValueForm::number || !is_real(type.dtype)) {
      return false;
    }
    ColumnPart part;
    part.size_ = rows.count;
    part.worker_ = snapshot->worker(rows.row);
    part.mode_ = rows.row.mode;
    part.dtype_ = type.dtype;
    part.first_step_ = rows.row.file.step;
    part.stride_ = rows.stride;
    part.number_bytes_ = item_size(type.dtype);
    part.numbers_apart_ = payload.starts_bytes();
    part.numbers_ = static_cast<const std::byte*>(payload.starts) + position * (part.numbers_apart_ / payload.count);
    part.times_apart_ = detail::layout::Payload::lengths_bytes(payload.length_form, payload.count);
    part.times_ = static_cast<const std::byte*>(payload.wide_length(position));
    column.parts_.push_back(part);
    return true;
  };
  bool held = true;
  snapshot->steps.for_each_chunk([&](const detail::trial::StepChunk& chunk) {
    const std::span<const RowSequence> sequences = chunk.sequences();
    held = held && !sequences.empty() && std::ranges::all_of(sequences, add);
  });
  return held ? std::optional(std::move(column)) : std::nullopt;
}

ScalarColumn ScalarColumn::read(const Trial& trial, std::string_view tensor, std::optional<Mode> mode,
                                const std::optional<std::string>& worker, const ReadOptions& reading,
                                std::optional<GlobalStep> after) {
  if (std::optional<ScalarColumn> column = mode || worker || after ? std::nullopt : held(trial, tensor)) {
    return *std::move(column);
  }
  const Tensor owner = trial.tensor(tensor);  // keeps names
  EntryQuery entry_query = {.tensors = {std::string(tensor)},
                            .mode = mode,
                            .workers = worker ? std::vector{*worker} : std::vector<std::string>()};
  if (after) {
    entry_query.steps = detail::mapped(TrialSnapshot::take(trial).steps(after), &SnapshotStep::step);
  }
  std::vector<Entry> entries;
  std::vector<WantedValue> wanted;
  std::vector<std::size_t> places;  // in `entries`
  trial.for_each_entry(entry_query, [&](const TensorEntry& entry) {
    if (entry.value) {
      Entry& one = entries.emplace_back(
          Entry{entry.worker, entry.mode, entry.step.value, entry.mode_step.value, Dtype::float32, 0, 0});
      if (entry.value->form() == ValueForm::number) {
        one.dtype = entry.value->type->dtype;
        one.bits = entry.value->number;
        one.wall_time = entry.value->wall_time;
        one.is_number = is_real(one.dtype);
      } else {
        wanted.push_back({*entry.value, owner.name()});
        places.push_back(entries.size() - 1);
      }
    }
    return true;
  });
  read_numbers(trial, wanted, places, entries, reading);

  ScalarColumn column;
  std::map<std::tuple<std::string_view, Mode, Dtype>, Numbers> all;
  std::map<std::pair<std::string_view, Mode>, std::int64_t> unread;  // newest values, by their step
  for (Entry& entry : entries) {
    if (!entry.problem) {
      unread.erase({entry.worker, entry.mode});
    } else if (entry.problem->kind != ProblemKind::not_yet) {
      unread[{entry.worker, entry.mode}] = entry.step;
    }
    if (entry.problem) {
      entry.problem->step = GlobalStep(entry.step);
      column.problems_.push_back(*std::move(entry.problem));
    } else if (!entry.is_number) {
      ++column.others_;
    } else {
      column.has_axes_ = column.has_axes_ || entry.has_axes;
      Numbers& numbers = all[{entry.worker, entry.mode, entry.dtype}];
      numbers.steps.push_back(entry.step);
      numbers.mode_steps.push_back(entry.mode_step);
      numbers.bits.push_back(entry.bits);
      numbers.times.push_back(entry.wall_time);
    }
  }
  for (const auto& [unused, step] : unread) {
    column.last_unread_ = std::max(column.last_unread_, std::optional(GlobalStep(step)));
  }
  const auto kept = std::make_shared<std::pair<Tensor, decltype(all)>>(owner, std::move(all));
  for (const auto& [key, numbers] : kept->second) {
    ColumnPart part;
    part.size_ = numbers.steps.size();
    std::tie(part.worker_, part.mode_, part.dtype_) = key;
    part.steps_ = numbers.steps.data();
    part.mode_steps_ = numbers.mode_steps.data();
    part.numbers_ = std::as_bytes(std::span(numbers.bits)).data();
    part.numbers_apart_ = sizeof(std::uint64_t);
    part.number_bytes_ = std::min(item_size(part.dtype_), sizeof(std::uint64_t));
    part.times_ = std::as_bytes(std::span(numbers.times)).data();
    part.times_apart_ = sizeof(double);
    column.parts_.push_back(part);
  }
  column.owner_ = kept;
  return column;
}

}  // namespace smd
