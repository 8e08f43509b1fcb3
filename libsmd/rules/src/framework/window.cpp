// SPDX-License-Identifier: Apache-2.0
#include "framework/window.hpp"

#include <smd/elements.hpp>
#include <smd/error.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>

namespace smd::detail::rules {

namespace {

constexpr std::uint64_t kept_overhead = 256;  // bytes of an entry besides its elements
/// Limit of the memory of values whose elements repeat a few stored ones: their records' lengths do not bound it.
constexpr std::uint64_t repeated_limit = std::uint64_t{256} << 20;
/// Size of the part that one thread reads at once: large enough for the overhead, small enough to keep all threads
/// busy.
constexpr std::size_t part_records = 128;
constexpr std::uint64_t part_bytes = std::uint64_t{1} << 20;

}  // namespace

const KeptValues::Kept* KeptValues::find(const Key& key) {
  const auto it = places_.find(key);
  if (it == places_.end()) {
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, it->second);
  return &it->second->kept;
}

void KeptValues::put(const Key& key, Kept kept) {
  if (places_.contains(key)) {
    return;
  }
  bytes_ += kept.value.bytes().size() + kept_overhead;
  entries_.push_front({key, std::move(kept)});
  places_.emplace(key, entries_.begin());
  while (bytes_ > most_bytes_ && entries_.size() > 1) {
    bytes_ -= entries_.back().kept.value.bytes().size() + kept_overhead;
    places_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

Held held_by(Dtype dtype, std::uint64_t count) {
  return dtype == Dtype::string ? Held::text
         : is_complex(dtype)    ? Held::complex_numbers
         : count == 0           ? Held::no_elements
                                : Held::numbers;
}

/// Receives records for their slots, one after another: reduces each, holds it in memory, or both.
class Window::Sink final : public BlockSink {
 public:
  explicit Sink(Window& window) : window_(window), sets_(window.sets_) {}

  /// Sets the slot of the next record.
  void aim(Slot& slot) noexcept { slot_ = &slot; }

  void written(double wall_time) override { slot_->wall_time = wall_time; }

  bool begin(Dtype dtype, const Shape& shape) override {
    bytes_.reset();
    filled_ = 0;
    std::uint64_t count = 1;
    for (const std::int64_t dim : shape) {
      count *= static_cast<std::uint64_t>(dim);
    }
    slot_->held = held_by(dtype, count);
    if (slot_->held != Held::numbers) {
      return false;
    }
    dtype_ = dtype;
    if (slot_->reductions == 0 || reduced_ != slot_->reductions) {
      reducer_.reset();
      reduced_ = slot_->reductions;
    }
    if (reducer_) {
      reducer_->clear();
    } else if (reduced_ != 0) {
      reducer_.emplace(sets_.of(reduced_));
    }
    if (!slot_->value_wanted && !slot_->number_wanted) {
      return reducer_.has_value();
    }
    size_ = count * item_size(dtype);
    if (!window_.may_hold(*slot_, size_)) {
      slot_->held = Held::nothing;
      slot_->problem = Problem{ProblemKind::damaged,
                               {},
                               {},
                               "its elements, repeated from a few that are stored, take more memory than all such "
                               "values of a step may (" +
                                   std::to_string(repeated_limit >> 20) + " MiB)"};
      return false;
    }
    bytes_ = std::shared_ptr<std::byte[]>(new (std::nothrow) std::byte[size_]);
    if (!bytes_) {
      throw std::bad_alloc();  // the reader reports it
    }
    shape_ = shape;
    return true;
  }

  bool block(std::span<const std::byte> bytes) override {
    if (reducer_) {
      reducer_->add(dtype_, bytes);
    }
    if (bytes_) {
      const std::size_t taken = std::min(bytes.size(), size_ - filled_);
      std::memcpy(bytes_.get() + filled_, bytes.data(), taken);
      filled_ += taken;
    }
    return true;
  }

  bool repeat(std::span<const std::byte> element, std::uint64_t count) override {
    if (bytes_) {
      return BlockSink::repeat(element, count);
    }
    reducer_->add_repeated(dtype_, element, count);
    return true;
  }

  /// Called after the last block of a record.
  void finish(std::span<double> numbers) {
    if (slot_->held != Held::numbers) {
      return;
    }
    if (reducer_) {
      const std::vector<Reduction>& reductions = sets_.of(reduced_);
      for (std::size_t i = 0; i < reductions.size(); ++i) {
        numbers[i] = reducer_->result(reductions[i]).real;
      }
    }
    if (bytes_ && filled_ == size_) {
      slot_->value = TensorValue(dtype_, std::move(shape_), std::move(bytes_), size_);
      slot_->have_value = true;
      if (slot_->number_wanted) {
        copy_as_doubles(slot_->value.view(), 0, std::span(&slot_->number, 1));
      }
    }
  }

 private:
  Window& window_;
  const ReductionSets& sets_;
  Slot* slot_ = nullptr;
  ReductionSets::Id reduced_ = 0;  // what `reducer_` is for
  std::optional<Reducer> reducer_;
  Dtype dtype_ = Dtype::float32;
  Shape shape_;
  std::shared_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::size_t filled_ = 0;
};

/// Some records that one thread reads. Slots and numbers are each written by one thread.
class Window::Part final : public TrialPart {
 public:
  Part(Window& window, const EvaluatedTrial& trial, std::span<const std::uint32_t> slots)
      : window_(window), trial_(trial), slots_(slots) {}

  void work(BlockReader& reader) override {
    Sink sink(window_);
    for (std::size_t first = 0; first < slots_.size();) {
      const SavedRow row = window_.slots_[slots_[first]].row;
      std::size_t end = first;
      while (end < slots_.size() && window_.slots_[slots_[end]].row == row) {
        ++end;
      }
      read_row(row, slots_.subspan(first, end - first), sink, reader);
      first = end;
    }
  }

 private:
  void read_row(SavedRow row, std::span<const std::uint32_t> slots, Sink& sink, BlockReader& reader) {
    records_.clear();
    bare_.clear();
    for (const std::uint32_t i : slots) {
      RecordRange record = window_.slots_[i].record;
      if (auto bare = trial_.snapshot().bare_value(row, window_.slots_[i].position)) {
        bare_.push_back(std::move(bare));
        record.bare = bare_.back().get();
      }
      records_.push_back(record);
    }
    sink.aim(window_.slots_[slots.front()]);
    const std::string file = trial_.snapshot().event_file(row);
    reader.read(file, records_, sink, [&](std::size_t i, std::optional<Problem>&& problem) {
      Slot& slot = window_.slots_[slots[i]];
      if (problem) {
        slot.problem = std::move(problem);
        slot.held = Held::nothing;
      } else if (slot.problem) {  // set by `Sink::begin`, because of the memory that the value needs
        slot.problem->file = file;
        slot.problem->offset = records_[i].offset;
      } else {
        sink.finish(std::span(window_.numbers_).subspan(slot.numbers));
      }
      if (i + 1 < slots.size()) {
        sink.aim(window_.slots_[slots[i + 1]]);
      }
      return true;
    });
  }

  Window& window_;
  const EvaluatedTrial& trial_;
  std::span<const std::uint32_t> slots_;
  std::vector<RecordRange> records_;
  std::vector<std::shared_ptr<const BareValue>> bare_;  // of `records_`, if they have no records
};

void Window::clear() {
  slots_.clear();
  by_row_.clear();
  numbers_.clear();
  held_bytes_ = 0;
  repeated_bytes_ = 0;
}

std::uint32_t Window::slot(const EvaluatedTrial& trial, SavedRow row, std::uint32_t position) {
  std::vector<std::uint32_t>& places = by_row_[row];
  if (places.empty()) {
    places.resize(trial.snapshot().records(row));
  }
  if (places[position] == 0) {
    slots_.push_back(Slot{&trial, row, position, trial.snapshot().record(row, position)});
    places[position] = static_cast<std::uint32_t>(slots_.size());
  }
  return places[position] - 1;
}

void Window::want_value(std::uint32_t slot, bool keep) {
  Slot& wanted = slots_[slot];
  if (!wanted.value_wanted) {
    wanted.value_wanted = true;
    held_bytes_ += wanted.record.length;
  }
  wanted.keep = wanted.keep || keep;
}

/// Returns whether a value of this size may be held in memory. One that is not larger than its record always may: the
/// length of the record was planned for.
bool Window::may_hold(const Slot& slot, std::uint64_t bytes) noexcept {
  return bytes <= slot.record.length || repeated_bytes_.fetch_add(bytes) + bytes <= repeated_limit;
}

void Window::want_reduction(std::uint32_t slot, const Reduction& reduction) {
  slots_[slot].reductions = sets_.with(slots_[slot].reductions, reduction);
}

void Window::read(unsigned jobs, ReadCounters& counters) {
  std::map<const EvaluatedTrial*, std::vector<std::uint32_t>> by_trial;
  std::size_t numbers = 0;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.numbers = numbers;
    numbers += sets_.of(slot.reductions).size();
    if (slot.value_wanted && slot.reductions == 0) {
      if (const auto* kept = kept_.find({slot.trial->number(), slot.row.id(), slot.position})) {
        slot.value = kept->value;
        slot.wall_time = kept->wall_time;
        slot.held = kept->held;
        slot.have_value = kept->held == Held::numbers;
        continue;
      }
    }
    if (!slot.value_wanted && !slot.number_wanted && slot.reductions == 0) {  // only its time
      const std::shared_ptr<const BareValue> bare = slot.trial->snapshot().bare_value(slot.row, slot.position);
      if (bare && !bare->unread_type.empty()) {
        slot.wall_time = bare->wall_time;
        continue;
      }
    }
    by_trial[slot.trial].push_back(i);
  }
  numbers_.assign(numbers, 0);
  for (auto& [trial, slots] : by_trial) {
    sort(slots);
    read_of(*trial, slots, jobs, counters);
  }
  const auto stopped = std::find_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.problem && slot.problem->kind == ProblemKind::stopped;
  });
  if (stopped != slots_.end()) {
    throw ReadError(*stopped->problem);
  }
}

/// Sorts by row, then by offset. Rows are in the order of steps and workers, so of files; usually slots are sorted by
/// row already.
void Window::sort(std::vector<std::uint32_t>& slots) const {
  const auto by_row = [&](std::uint32_t a, std::uint32_t b) { return slots_[a].row < slots_[b].row; };
  if (!std::is_sorted(slots.begin(), slots.end(), by_row)) {
    std::sort(slots.begin(), slots.end(), by_row);
  }
  for (auto first = slots.begin(); first != slots.end();) {
    const SavedRow row = slots_[*first].row;
    const auto end = std::find_if(first, slots.end(), [&](std::uint32_t slot) { return slots_[slot].row != row; });
    std::sort(first, end,
              [&](std::uint32_t a, std::uint32_t b) { return slots_[a].record.offset < slots_[b].record.offset; });
    first = end;
  }
}

void Window::read_of(const EvaluatedTrial& trial, const std::vector<std::uint32_t>& slots, unsigned jobs,
                     ReadCounters& counters) {
  // On a remote store, the records of one file take one request if one thread reads them; other threads read other
  // files.
  const bool remote = trial.trial().remote();
  std::vector<std::span<const std::uint32_t>> parts;
  std::size_t first = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots_[slots[i]];
    const std::uint64_t length = slot.record.length;
    const bool other_file = i > first && slot.row != slots_[slots[first]].row;
    if (i > first && (i - first >= part_records || bytes + length > part_bytes || (remote && other_file))) {
      parts.push_back(std::span(slots).subspan(first, i - first));
      first = i;
      bytes = 0;
    }
    bytes += length;
    counters.bytes += length;
  }
  counters.records += slots.size();
  if (first < slots.size()) {
    parts.push_back(std::span(slots).subspan(first));
  }
  trial.trial().parallel_for_each(
      parts.size(), [&](std::size_t i) { return std::make_unique<Part>(*this, trial, parts[i]); },
      [](std::size_t, std::unique_ptr<TrialPart>&&) { return true; }, {.jobs = jobs});
}

std::optional<double> Window::number(const Slot& slot, const Reduction& reduction) const noexcept {
  const std::size_t place = sets_.place(slot.reductions, reduction);
  if (slot.held != Held::numbers || place == sets_.of(slot.reductions).size()) {
    return std::nullopt;
  }
  return numbers_[slot.numbers + place];
}

void Window::keep_values() {
  for (Slot& slot : slots_) {
    if (slot.keep && !slot.problem) {
      kept_.put({slot.trial->number(), slot.row.id(), slot.position},
                {std::move(slot.value), slot.wall_time, slot.held});
    }
  }
}

}  // namespace smd::detail::rules
