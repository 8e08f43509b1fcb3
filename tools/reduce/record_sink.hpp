// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <smd/reduction.hpp>
#include <span>
#include <vector>

#include "row_plan.hpp"
#include "statistic.hpp"
#include "value_sink.hpp"

namespace smd::tool::reduce {

/// Reduces records one after another, or takes the one number of a saved reduction. One thread at a time.
class RecordSink : public ViewSink {
 public:
  /// `mergeable`: the result of a record is merged with others, so that `partial` or `take_reducer` will be called.
  RecordSink(const ReduceOptions& options, const SliceSpec* slice, bool mergeable)
      : ViewSink(slice), options_(options), mergeable_(mergeable) {}

  /// Sets what the next record is reduced to; null: it is a saved reduction.
  void aim(const RowPlan* plan) { plan_ = plan; }

  [[nodiscard]] std::span<const ReducedValue> values();
  [[nodiscard]] const Statistic& saved() const noexcept { return saved_; }
  /// @pre mergeable, as for `take_reducer`.
  [[nodiscard]] PartialReduction partial() const { return reducer_->partial(); }
  [[nodiscard]] Reducer take_reducer();
  [[nodiscard]] bool prefers_whole() const noexcept override {
    return plan_ != nullptr && plan_->needs_values && !mergeable_;
  }

 protected:
  bool start(Dtype dtype) override;
  void take(const TensorView& view, bool whole) override;
  bool take_repeated(std::span<const std::byte> element, std::uint64_t count) override;

 private:
  const ReduceOptions& options_;
  bool mergeable_;
  const RowPlan* plan_ = nullptr;
  const RowPlan* reducer_of_ = nullptr;
  std::optional<Reducer> reducer_;
  bool at_once_ = false;  // values_ are there already
  std::vector<ReducedValue> values_;
  Statistic saved_;
};

}  // namespace smd::tool::reduce
