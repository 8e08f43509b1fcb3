// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <smd/tensor.hpp>

#include "rows/cell.hpp"

namespace smd::tool {

/// Where the first record of an entry was written.
[[nodiscard]] inline PlaceCell place_of(const TensorEntry& entry) noexcept {
  PlaceCell place{entry.step.value, std::numeric_limits<std::uint64_t>::max()};
  if (entry.value) {
    place.offset = entry.value->offset;
  }
  for (const SavedReduction& reduction : entry.reductions) {
    place.offset = std::min(place.offset, reduction.place.offset);
  }
  return place;
}

}  // namespace smd::tool
