// SPDX-License-Identifier: Apache-2.0
#include "draw/gap_finder.hpp"

#include <algorithm>

namespace smd::tool {

bool GapFinder::is_gap(double distance, double before, double after) noexcept {
  if (before == 0 || after == 0) {  // at an end, where only one distance says what is usual
    const double other = std::max(before, after);
    return other > 0 && distance > 4 * other;
  }
  return distance > 1.5 * std::max(before, after);
}

void GapFinder::add(std::int64_t step) {
  // Unsigned, since steps may lie farther apart than a signed integer holds.
  const double distance =
      count_ == 0 ? 0 : static_cast<double>(static_cast<std::uint64_t>(step) - static_cast<std::uint64_t>(last_));
  if (count_ >= 2 && (gaps_.empty() || gaps_.back() != count_ - 1) && is_gap(distance_, before_, distance)) {
    gaps_.push_back(count_ - 1);
  }
  if (skipped_) {
    gaps_.push_back(count_);
    skipped_ = false;
  }
  before_ = distance_;
  distance_ = distance;
  last_ = step;
  ++count_;
}

std::vector<std::size_t> GapFinder::gaps() const {
  std::vector<std::size_t> all = gaps_;
  if (count_ >= 2 && (all.empty() || all.back() != count_ - 1) && is_gap(distance_, before_, 0)) {
    all.push_back(count_ - 1);
  }
  return all;
}

}  // namespace smd::tool
