// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

#include <numeric>
#include <tuple>

namespace smd::detail::layout {

void Listing::rank_workers() {
  if (worker_rank.size() == workers.size()) {
    return;
  }
  std::vector<std::uint32_t> order(workers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return std::tie(*workers[a], a) < std::tie(*workers[b], b); });
  worker_rank = places_in(order);
}

std::vector<StepRow> rows_of(std::span<const RowSequence> sequences) {
  std::vector<StepRow> rows;
  rows.reserve(count_rows(sequences));
  for (const RowSequence& sequence : sequences) {
    for (std::uint32_t i = 0; i < sequence.count; ++i) {
      rows.push_back(sequence.nth(i));
    }
  }
  return rows;
}

std::size_t count_rows(std::span<const RowSequence> sequences) noexcept {
  return std::accumulate(sequences.begin(), sequences.end(), std::size_t{0},
                         [](std::size_t sum, const RowSequence& sequence) { return sum + sequence.count; });
}

bool Listing::before_in_step(const StepPart& a, const StepPart& b) const {
  return a.worker != b.worker ? worker_rank[a.worker] < worker_rank[b.worker] : a != b && before_in_worker(a, b);
}

const CollectionMap::Map& CollectionMap::operator*() const {
  static const Map none;
  if (!made_) {
    return none;
  }
  std::call_once(made_->once, [this] {
    if (made_->make) {
      made_->map = made_->make();
      made_->make = nullptr;  // with what it holds
    }
  });
  return made_->map;
}

std::size_t workers_needed(const CollectionsInfo& collections, const Listing& listing) {
  if (collections.num_workers && *collections.num_workers > 0) {
    return static_cast<std::size_t>(*collections.num_workers);
  }
  return std::max<std::size_t>(listing.workers.size(), 1);
}

StepCounts count_steps(const NamedSteps& named) {
  StepCounts steps;
  std::uint32_t last_worker = no_id;
  for (const StepPart& file : named.files) {
    if (steps.empty() || steps.back().first != file.step) {
      steps.emplace_back(file.step, 0);
      last_worker = no_id;
    }
    if (file.worker != last_worker) {
      ++steps.back().second;
      last_worker = file.worker;
    }
  }
  return steps;
}

bool takes_all(std::span<const StepRange> ranges) noexcept {
  return std::ranges::any_of(ranges, [](const StepRange& range) {
    return (!range.first || range.first->value == INT64_MIN) && !range.end && !range.newest && !range.oldest;
  });
}

RangeFilter::RangeFilter(std::span<const StepRange> ranges, const StepCounts& steps) {
  constexpr Bounds nothing = {1, 0};
  for (const StepRange& range : ranges) {
    Bounds& bounds = bounds_.emplace_back();
    const std::size_t count = std::min(range.newest.value_or(range.oldest.value_or(0)), steps.size());
    if (range.first) {
      bounds.first = range.first->value;
    }
    if ((range.end && range.end->value == INT64_MIN) || ((range.newest || range.oldest) && count == 0)) {
      bounds = nothing;
    } else if (range.newest) {
      bounds.first = steps[steps.size() - count].first;
    } else if (range.oldest) {
      bounds.last = steps[count - 1].first;
    } else if (range.end) {
      bounds.last = range.end->value - 1;
    }
  }
}

}  // namespace smd::detail::layout
