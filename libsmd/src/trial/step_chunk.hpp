// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"

#include <smd/step.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace smd::detail::trial {

/// One global step, and what workers wrote at it.
struct Step {
  std::int64_t number = 0;
  Mode mode = Mode::global;  ///< That of the first row; other rows may have another.
  std::int64_t mode_step = 0;
  std::shared_ptr<const layout::StepRow> first_row;  ///< Of `rows` contiguous rows, which it keeps alive.
  std::uint32_t rows = 0;  ///< By worker's name, then path; the last of several rows of one worker counts.
};

/// Makes a step of contiguous rows.
[[nodiscard]] inline Step step_of(std::shared_ptr<const layout::StepRow> first, std::uint32_t count) noexcept {
  const layout::StepRow& row = *first;
  return {row.file.step, row.mode, row.mode_step, std::move(first), count};
}

/// Some consecutive steps. Those of a log are stored as sequences of rows, one row for each step, and are made on first
/// access: most queries about a million steps need none of them. Immutable. Thread-safe.
class StepChunk {
 public:
  /// Precondition: `steps` is not empty.
  explicit StepChunk(std::vector<Step> steps);
  /// Precondition: `rows` is ascending and not empty, and each row is the only one of its step.
  explicit StepChunk(std::vector<layout::RowSequence> rows);
  StepChunk(const StepChunk&) = delete;
  StepChunk& operator=(const StepChunk&) = delete;
  ~StepChunk() = default;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const Step& operator[](std::size_t i) const { return steps()[i]; }
  [[nodiscard]] const Step& front() const { return steps().front(); }
  [[nodiscard]] const Step& back() const { return steps().back(); }
  [[nodiscard]] std::vector<Step>::const_iterator begin() const { return steps().begin(); }
  [[nodiscard]] std::vector<Step>::const_iterator end() const { return steps().end(); }

  /// Returns the sequences from which the chunk was made; empty if it was made from steps.
  [[nodiscard]] std::span<const layout::RowSequence> sequences() const noexcept { return rows_; }
  /// Returns the steps, which are valid as long as this; makes them on the first call.
  [[nodiscard]] const std::vector<Step>& steps() const {
    if (!made_.load(std::memory_order_acquire)) {
      make();
    }
    return steps_;
  }
  /// Calls `visit(step)` until it returns false, without storing steps: each is valid only during the call. Returns
  /// whether all were visited.
  template <class Visit>
  bool for_each(const Visit& visit) const {
    if (made_.load(std::memory_order_acquire)) {
      return std::all_of(steps_.begin(), steps_.end(), visit);
    }
    return std::all_of(rows_.begin(), rows_.end(), [&](const layout::RowSequence& sequence) {
      for (std::uint32_t i = 0; i < sequence.count; ++i) {
        const layout::StepRow row = sequence.nth(i);
        if (!visit(step_of({std::shared_ptr<void>(), &row}, 1))) {
          return false;
        }
      }
      return true;
    });
  }

 private:
  friend const Step& last_of(const StepChunk& chunk) noexcept { return chunk.last_; }

  void make() const;

  std::vector<layout::RowSequence> rows_;
  std::size_t size_;
  Step last_;
  mutable std::mutex making_;
  mutable std::atomic<bool> made_;
  mutable std::vector<Step> steps_;  // written once, before `made_`
};

}  // namespace smd::detail::trial
