// SPDX-License-Identifier: Apache-2.0
#include "trial/step_chunk.hpp"

#include <utility>

namespace smd::detail::trial {

StepChunk::StepChunk(std::vector<Step> steps)
    : size_(steps.size()), last_(steps.back()), made_(true), steps_(std::move(steps)) {}

StepChunk::StepChunk(std::vector<layout::RowSequence> rows)
    : rows_(std::move(rows)),
      size_(count_rows(rows_)),
      last_(step_of(std::make_shared<const layout::StepRow>(rows_.back().nth(rows_.back().count - 1)), 1)),
      made_(false) {}

void StepChunk::make() const {
  const std::lock_guard lock(making_);
  if (made_.load(std::memory_order_relaxed)) {
    return;
  }
  const auto kept = std::make_shared<const std::vector<layout::StepRow>>(rows_of(rows_));
  steps_.reserve(size_);
  for (const layout::StepRow& row : *kept) {
    steps_.push_back(step_of({kept, &row}, 1));
  }
  made_.store(true, std::memory_order_release);
}

}  // namespace smd::detail::trial
