// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/value_reducer.hpp>
#include <span>
#include <string>

#include "options.hpp"
#include "row_plan.hpp"
#include "select/slice.hpp"
#include "statistic.hpp"

namespace smd::tool::reduce {

/// What one record is reduced to, or the one number of a saved reduction. For one record after another.
class RecordResult {
 public:
  /// `mergeable`: the result of a record is merged with others, so that `reducer` will be called.
  RecordResult(const ReduceCommandOptions& options, bool mergeable)
      : options_(options), reducer_(options.reduce, mergeable) {}

  /// `plan`: null if the record is a saved reduction.
  void read(Extent& value, const RowPlan* plan) {
    dtype_ = value.dtype();
    misfit_.clear();
    saved_ = Statistic();
    if (plan == nullptr) {
      if (dtype_ != Dtype::string && value.size() == 1) {
        saved_ = Statistic::of(TensorView(dtype_, value.shape(), value.view(0, 1)));
      }
      return;
    }
    if (dtype_ == Dtype::string) {
      return;
    }
    misfit_ = options_.slice ? narrow(value, *options_.slice) : std::string();
    if (misfit_.empty()) {
      (void)reducer_.reduce(value, plan->computed);
    }
  }

  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  /// Why the slice does not fit the record.
  [[nodiscard]] const std::string& misfit() const noexcept { return misfit_; }
  [[nodiscard]] const Statistic& saved() const noexcept { return saved_; }
  /// In the order of `RowPlan::computed`.
  [[nodiscard]] std::span<const ReducedValue> computed() { return reducer_.results(); }
  [[nodiscard]] Reducer& reducer() noexcept { return reducer_.reducer(); }

 private:
  const ReduceCommandOptions& options_;
  ValueReducer reducer_;
  Dtype dtype_ = Dtype::float32;
  std::string misfit_;
  Statistic saved_;
};

}  // namespace smd::tool::reduce
