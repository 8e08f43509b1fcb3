// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/reduction.hpp>
#include <smd/value_reader.hpp>

#include <optional>
#include <span>
#include <vector>

namespace smd {

/// Reduces open values one after another, and keeps its reducer and results, so that many short values cost no
/// allocations. With a `ValueReader` in each thread of a `parallel_read`, it reduces any number of values of any size.
/// Not for concurrent use.
class SMD_EXPORT ValueReducer {
 public:
  /// `mergeable`: `reducer` is needed afterwards, so elements that median and percentiles need are always kept.
  explicit ValueReducer(const ReduceOptions& options = {}, bool mergeable = false)
      : options_(options), mergeable_(mergeable) {}

  /// Reads and reduces a value. Returns false if reading failed. `wanted` is compared by address, and must not change.
  /// @throws InvalidArgument for strings, and as `Reducer`.
  [[nodiscard]] bool reduce(Extent& value, const std::vector<Reduction>& wanted);
  /// The same for elements in memory.
  void reduce(const TensorView& view, const std::vector<Reduction>& wanted);
  /// Returns the results for the last value, in the order of what was wanted. Valid until the next call.
  [[nodiscard]] std::span<const ReducedValue> results();
  /// Returns the reducer that has the last value. Precondition: mergeable.
  [[nodiscard]] Reducer& reducer() noexcept { return *reducer_; }

 private:
  void begin(const std::vector<Reduction>& wanted, std::uint64_t bytes);

  ReduceOptions options_;
  bool mergeable_;
  const std::vector<Reduction>* wanted_ = nullptr;
  bool needs_values_ = false;
  bool at_once_ = false;  ///< `results_` are there already.
  std::optional<Reducer> reducer_;
  std::vector<ReducedValue> results_;
};

}  // namespace smd
