// SPDX-License-Identifier: Apache-2.0
#include "framework/window.hpp"

#include <smd/elements.hpp>
#include <smd/error.hpp>
#include <smd/trial.hpp>

#include <algorithm>
#include <memory>
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

/// Returns whether a record's elements cannot be read, though it is known where it is and when it was made.
bool of_unread_type(const Place& place) { return place.type && !place.type->unread_type.empty(); }

/// Returns whether elements are quantised by a known scale: others, as of debugger trials, count as their integers.
bool is_quantised(const Place& place) {
  return place.type && storage_type(place.type->dtype) != place.type->dtype && !place.type->meaning.empty();
}

}  // namespace

const KeptValues::Kept* KeptValues::find(const Key& key) {
  const auto it = places_.find(key);
  if (it == places_.end()) {
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, it->second);
  return &it->second->second;
}

void KeptValues::put(const Key& key, Kept kept) {
  if (places_.contains(key)) {
    return;
  }
  bytes_ += kept.value.bytes().size() + kept_overhead;
  entries_.emplace_front(key, std::move(kept));
  places_.emplace(key, entries_.begin());
  while (bytes_ > most_bytes_ && entries_.size() > 1) {
    const auto& [oldest, dropped] = entries_.back();
    bytes_ -= dropped.value.bytes().size() + kept_overhead;
    places_.erase(oldest);
    entries_.pop_back();
  }
}

Held held_by(Dtype dtype, std::uint64_t count) {
  return dtype == Dtype::string ? Held::text
         : is_complex(dtype)    ? Held::complex_numbers
         : count == 0           ? Held::no_elements
                                : Held::numbers;
}

/// Reduces a value, holds it in memory, or both. What one rule wants must not change what another gets.
void Window::take(Slot& slot, const Place& place, Extent& value, ValueReducer& reducer) {
  slot.wall_time = value.wall_time();
  slot.timed = true;
  slot.have_value = false;
  slot.problem.reset();
  slot.not_held.reset();
  slot.held = slot.of_nothing ? Held::no_elements : held_by(value.dtype(), value.size());
  if (slot.held != Held::numbers) {
    return;
  }
  slot.held = is_quantised(place) ? Held::quantised : Held::numbers;
  const std::vector<Reduction>& reductions = sets_.of(slot.reductions);
  bool reduced = false;
  const bool wanted = slot.value_wanted || slot.number_wanted;
  if (wanted && may_hold(slot, value.size() * item_size(value.dtype()))) {
    std::optional<TensorValue> whole = value.value();
    if (!whole) {
      return;
    }
    slot.value = *std::move(whole);
    slot.have_value = true;
    if (slot.number_wanted) {
      copy_as_doubles(slot.value.view(), 0, std::span(&slot.number, 1));
    }
    if (!reductions.empty()) {
      reducer.reduce(slot.value.view(), reductions);
      reduced = true;
    }
  } else {
    if (wanted) {
      slot.not_held = Problem{ProblemKind::damaged, *place.file, place.offset,
                              "its elements, repeated from a few that are stored, take more memory than all such "
                              "values of a step may (" +
                                  std::to_string(repeated_limit >> 20) + " MiB)"};
    }
    reduced = !reductions.empty() && reducer.reduce(value, reductions);
  }
  if (reduced) {
    const std::span<const ReducedValue> results = reducer.results();
    std::ranges::transform(results, numbers_.begin() + static_cast<std::ptrdiff_t>(slot.numbers), &ReducedValue::real);
  }
}

/// Reads some slots. Slots and numbers are each written by one thread.
void Window::read_part(const EvaluatedTrial& trial, std::span<const std::uint32_t> slots, ValueReader& reader) {
  const TrialSnapshot& snapshot = trial.snapshot();
  std::vector<WantedValue> wanted;
  wanted.reserve(slots.size());
  std::shared_ptr<const std::string> file;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots_[slots[i]];
    if (i == 0 || slots_[slots[i - 1]].row != slot.row) {
      file = snapshot.file(slot.row);
    }
    wanted.push_back({snapshot.place(slot.row, slot.position, file), snapshot.stored_name(slot.row, slot.position)});
  }
  ValueReducer reducer;
  reader.read_each(
      wanted, [&](std::size_t i, Extent& value) { take(slots_[slots[i]], wanted[i].place, value, reducer); },
      [&](std::size_t i, const std::optional<Problem>& problem) {
        if (!problem) {
          return;
        }
        Slot& slot = slots_[slots[i]];
        const Place& place = wanted[i].place;
        slot.problem = problem;
        slot.held = Held::nothing;
        if (of_unread_type(place)) {
          slot.wall_time = place.wall_time;
          slot.timed = true;
          if (place.length == 0 && dtype_from_name(place.type->unread_type)) {
            slot.problem.reset();
            slot.held = Held::shape_alone;
          }
        }
      });
}

void Window::clear() {
  slots_.clear();
  by_row_.clear();
  places_.clear();
  latest_.reset();
  numbers_.clear();
  held_bytes_ = 0;
  repeated_bytes_ = 0;
}

std::uint32_t Window::slot(const EvaluatedTrial& trial, SavedRow row, std::uint32_t position) {
  if (!latest_ || latest_->first != row) {
    const auto [at, made] = by_row_.try_emplace(row, places_.size());
    if (made) {
      places_.resize(places_.size() + trial.snapshot().records(row));
    }
    latest_ = *at;
  }
  std::uint32_t& place = places_[latest_->second + position];
  if (place == 0) {
    slots_.push_back(Slot{&trial, row, position, trial.snapshot().bytes(row, position)});
    place = static_cast<std::uint32_t>(slots_.size());
  }
  return place - 1;
}

void Window::want_value(std::uint32_t slot, bool keep) {
  Slot& wanted = slots_[slot];
  if (!wanted.value_wanted) {
    wanted.value_wanted = true;
    held_bytes_ += wanted.bytes;
  }
  wanted.keep = wanted.keep || keep;
}

/// Returns whether a value of this size may be held in memory. One that is not larger than its record always may: the
/// length of the record was planned for.
bool Window::may_hold(const Slot& slot, std::uint64_t bytes) noexcept {
  return bytes <= slot.bytes || repeated_bytes_.fetch_add(bytes) + bytes <= repeated_limit;
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
        slot.timed = true;
        slot.held = kept->held;
        slot.have_value = kept->held == Held::numbers || kept->held == Held::quantised;
        continue;
      }
    }
    if (!slot.value_wanted && !slot.number_wanted && slot.reductions == 0) {  // only its time
      if (const Place place = slot.trial->snapshot().place(slot.row, slot.position, nullptr); of_unread_type(place)) {
        slot.wall_time = place.wall_time;
        slot.timed = true;
        continue;
      }
    }
    by_trial[slot.trial].push_back(i);
  }
  numbers_.assign(numbers, 0);
  for (auto& [trial, slots] : by_trial) {
    const auto by_row = [&](std::uint32_t a, std::uint32_t b) { return slots_[a].row < slots_[b].row; };
    if (!std::ranges::is_sorted(slots, by_row)) {  // rows are in the order of files
      std::ranges::stable_sort(slots, by_row);
    }
    read_of(*trial, slots, jobs, counters);
  }
  const auto stopped = std::ranges::find_if(
      slots_, [](const Slot& slot) { return slot.problem && slot.problem->kind == ProblemKind::stopped; });
  if (stopped != slots_.end()) {
    throw ReadError(*stopped->problem);
  }
}

void Window::read_of(const EvaluatedTrial& trial, const std::vector<std::uint32_t>& slots, unsigned jobs,
                     ReadCounters& counters) {
  // On a remote store, the records of one file take one request if one thread reads them; other threads read other
  // files.
  const bool remote = is_remote_path(trial.trial().path());
  std::vector<std::span<const std::uint32_t>> parts;
  std::size_t first = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots_[slots[i]];
    const std::uint64_t length = slot.bytes;
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
  const ReadOptions options = {.jobs = jobs};
  parallel_read(trial.trial(), reading_loop(trial.trial(), parts.size(), options), options,
                [&](const LoopIndex& at, ValueReader& reader) { read_part(trial, parts[at.index], reader); });
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
    if (slot.keep && !slot.problem && !slot.not_held) {
      kept_.put({slot.trial->number(), slot.row.id(), slot.position},
                {std::move(slot.value), slot.wall_time, slot.held});
    }
  }
}

ReductionSets::Id ReductionSets::with(Id set, const Reduction& reduction) {
  const std::vector<Reduction>& smaller = sets_[set];
  if (place(set, reduction) < smaller.size()) {
    return set;
  }
  // A larger set comes after the set that it was made from.
  auto larger = std::find_if(sets_.begin() + set + 1, sets_.end(), [&](const std::vector<Reduction>& other) {
    return other.size() == smaller.size() + 1 && other.back() == reduction &&
           std::equal(smaller.begin(), smaller.end(), other.begin());
  });
  if (larger == sets_.end()) {
    static_cast<void>(Reducer(std::span(&reduction, 1)));  // throws here, not while reading
    std::vector<Reduction> made = smaller;
    made.push_back(reduction);
    larger = sets_.insert(larger, std::move(made));
  }
  return static_cast<Id>(larger - sets_.begin());
}

std::size_t ReductionSets::place(Id set, const Reduction& reduction) const noexcept {
  const std::vector<Reduction>& all = sets_[set];
  return static_cast<std::size_t>(std::ranges::find(all, reduction) - all.begin());
}

}  // namespace smd::detail::rules
