// SPDX-License-Identifier: Apache-2.0
#include "rules/window.hpp"

#include "rules/numbers.hpp"

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

constexpr std::uint64_t kept_limit = std::uint64_t{256} << 20;

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
  bytes_ += kept.value.bytes().size();
  entries_.push_front({key, std::move(kept)});
  places_.emplace(key, entries_.begin());
  while (bytes_ > kept_limit && entries_.size() > 1) {
    bytes_ -= entries_.back().kept.value.bytes().size();
    places_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

/// Takes a record in for its slot: reduces it, holds it, or both. Slots are each written by one thread.
class Window::Sink final : public BlockSink {
 public:
  Sink(Slot& slot, const std::vector<Reduction>& reductions) : slot_(slot), reductions_(reductions) {}

  void written(double wall_time) override { slot_.wall_time = wall_time; }

  bool begin(Dtype dtype, const Shape& shape) override {
    std::uint64_t count = 1;
    for (const std::int64_t dim : shape) {
      count *= static_cast<std::uint64_t>(dim);
    }
    slot_.usable = is_real(dtype) && count > 0;
    if (!slot_.usable) {
      return false;
    }
    dtype_ = dtype;
    if (!reductions_.empty()) {
      reducer_.emplace(reductions_);
    }
    if (!slot_.value_wanted && !slot_.number_wanted) {
      return reducer_.has_value();
    }
    size_ = count * item_size(dtype);
    bytes_ = std::shared_ptr<std::byte[]>(new (std::nothrow) std::byte[size_]);
    if (!bytes_) {
      size_ = 0;
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

  /// After the last block.
  void finish(std::span<double> numbers) {
    if (reducer_) {
      for (std::size_t i = 0; i < reductions_.size(); ++i) {
        numbers[i] = reducer_->result(reductions_[i]).real;
      }
    }
    if (bytes_ && filled_ == size_) {
      slot_.value = TensorValue(dtype_, std::move(shape_), std::move(bytes_), size_);
      slot_.have_value = true;
      if (slot_.number_wanted) {
        slot_.number = first_number(slot_.value.view());
      }
    }
  }

 private:
  Slot& slot_;
  const std::vector<Reduction>& reductions_;
  std::optional<Reducer> reducer_;
  Dtype dtype_ = Dtype::float32;
  Shape shape_;
  std::shared_ptr<std::byte[]> bytes_;
  std::size_t size_ = 0;
  std::size_t filled_ = 0;
};

void Window::clear() {
  slots_.clear();
  by_row_.clear();
  numbers_.clear();
  held_bytes_ = 0;
}

std::uint32_t Window::slot(const TrialView& view, const StepRow& row, std::uint32_t position) {
  std::vector<std::uint32_t>& columns = by_row_[&row];
  if (columns.empty()) {
    columns.resize(view.snapshot().catalog.payload(row).count);
  }
  if (columns[position] == 0) {
    slots_.emplace_back();
    slots_.back().view = &view;
    slots_.back().row = &row;
    slots_.back().position = position;
    columns[position] = static_cast<std::uint32_t>(slots_.size());
  }
  return columns[position] - 1;
}

void Window::want_value(std::uint32_t slot, bool keep) {
  Slot& wanted = slots_[slot];
  if (!wanted.value_wanted) {
    wanted.value_wanted = true;
    held_bytes_ += wanted.view->snapshot().catalog.payload(*wanted.row).lengths[wanted.position];
  }
  wanted.keep = wanted.keep || keep;
}

void Window::want_reduction(std::uint32_t slot, const Reduction& reduction) {
  slots_[slot].reductions = sets_.with(slots_[slot].reductions, reduction);
}

void Window::read(unsigned jobs, ReadCounters& counters) {
  std::map<const TrialView*, std::vector<std::uint32_t>> by_view;
  std::size_t numbers = 0;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    slot.numbers = numbers;
    numbers += sets_.of(slot.reductions).size();
    if (slot.value_wanted && slot.reductions == 0) {
      if (const auto* kept = kept_.find({slot.view->number(), slot.row->file, slot.position})) {
        slot.value = kept->value;
        slot.wall_time = kept->wall_time;
        slot.usable = kept->usable;
        slot.have_value = kept->usable;
        continue;
      }
    }
    by_view[slot.view].push_back(i);
  }
  numbers_.assign(numbers, 0);
  for (auto& [view, slots] : by_view) {
    std::sort(slots.begin(), slots.end(), [&, &view = *view](std::uint32_t a, std::uint32_t b) {
      const auto start = [&](const Slot& slot) {
        return view.snapshot().catalog.payload(*slot.row).start(slot.position);
      };
      // Rows lie by step and worker, so by file.
      return slots_[a].row != slots_[b].row ? std::less<>()(slots_[a].row, slots_[b].row)
                                            : start(slots_[a]) < start(slots_[b]);
    });
    read_of(*view, slots, jobs, counters);
  }
}

void Window::read_of(const TrialView& view, const std::vector<std::uint32_t>& slots, unsigned jobs,
                     ReadCounters& counters) {
  const Snapshot& snapshot = view.snapshot();
  std::vector<TensorLocation> locations;
  std::vector<std::string> tags;
  locations.reserve(slots.size());
  tags.reserve(slots.size());
  for (const std::uint32_t i : slots) {
    const Slot& slot = slots_[i];
    locations.push_back(view.state().location(snapshot, *slot.row, slot.position));
    tags.emplace_back(snapshot.catalog.stored_names()[snapshot.catalog.items(*slot.row).names[slot.position]]);
    ++counters.records;
    counters.bytes += locations.back().length;
  }
  view.trial().read_blocks(
      locations, tags,
      [&](std::size_t i) {
        Slot& slot = slots_[slots[i]];
        return std::make_unique<Sink>(slot, sets_.of(slot.reductions));
      },
      [&](std::size_t i, std::unique_ptr<BlockSink>&& sink, std::optional<Problem>&& problem) {
        Slot& slot = slots_[slots[i]];
        if (problem) {
          slot.problem = std::move(problem);
          slot.usable = false;
        } else {
          static_cast<Sink&>(*sink).finish(std::span(numbers_).subspan(slot.numbers));
        }
        return true;
      },
      {.jobs = jobs});
}

std::optional<double> Window::number(const Slot& slot, const Reduction& reduction) const noexcept {
  const std::size_t place = sets_.place(slot.reductions, reduction);
  if (!slot.usable || place == sets_.of(slot.reductions).size()) {
    return std::nullopt;
  }
  return numbers_[slot.numbers + place];
}

void Window::keep_values() {
  for (Slot& slot : slots_) {
    if (slot.keep && !slot.problem) {
      kept_.put({slot.view->number(), slot.row->file, slot.position},
                {std::move(slot.value), slot.wall_time, slot.usable && slot.have_value});
    }
  }
}

}  // namespace smd::detail::rules
