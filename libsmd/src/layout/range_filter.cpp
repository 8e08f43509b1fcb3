// SPDX-License-Identifier: Apache-2.0
#include "layout/range_filter.hpp"

namespace smd::detail::layout {

bool takes_all(std::span<const StepRange> ranges) noexcept {
  return std::any_of(ranges.begin(), ranges.end(), [](const StepRange& range) {
    return (!range.first() || range.first()->value == INT64_MIN) && !range.end() && !range.newest() && !range.oldest();
  });
}

RangeFilter::RangeFilter(std::span<const StepRange> ranges,
                         std::span<const std::pair<std::int64_t, std::size_t>> steps) {
  for (const StepRange& range : ranges) {
    Bounds bounds;
    if (range.first()) {
      bounds.first = range.first()->value;
    }
    if (range.end()) {
      bounds.last = range.end()->value == INT64_MIN ? INT64_MIN : range.end()->value - 1;
      bounds.empty = range.end()->value == INT64_MIN;
    }
    if (range.newest()) {
      const std::size_t count = std::min(*range.newest(), steps.size());
      bounds.empty = count == 0;
      bounds.first = count == 0 ? 0 : steps[steps.size() - count].first;
    }
    if (range.oldest()) {
      const std::size_t count = std::min(*range.oldest(), steps.size());
      bounds.empty = count == 0;
      bounds.last = count == 0 ? 0 : steps[count - 1].first;
    }
    bounds_.push_back(bounds);
  }
}

}  // namespace smd::detail::layout
