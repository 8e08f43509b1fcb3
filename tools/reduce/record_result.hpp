// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <smd/value_reducer.hpp>
#include <span>
#include <string>
#include <vector>

#include "options.hpp"
#include "row_plan.hpp"
#include "select/slice.hpp"
#include "statistic.hpp"

namespace smd::tool::reduce {

/// What one record is reduced to, or each of its rows, or the one number of a saved reduction. For one record after
/// another.
class RecordResult {
 public:
  /// `mergeable`: the result of a record is merged with others, so that `reducer` will be called.
  RecordResult(const ReduceCommandOptions& options, bool mergeable)
      : options_(options), mergeable_(mergeable), reducer_(options.reduce, mergeable) {}

  /// `plan`: null if the record is a saved reduction.
  void read(Extent& value, const RowPlan* plan) {
    dtype_ = value.dtype();
    wall_time_ = value.wall_time();
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
    size_ = value.size();
    if (misfit_.empty() && options_.by.row) {
      reduce_rows(value, plan->computed);
    } else if (misfit_.empty()) {
      (void)reducer_.reduce(value, plan->computed);
    }
  }

  [[nodiscard]] Dtype dtype() const noexcept { return dtype_; }
  [[nodiscard]] double wall_time() const noexcept { return wall_time_; }
  /// Whether what was reduced is one element.
  [[nodiscard]] bool one_element() const noexcept { return size_ == 1; }
  /// Why the slice does not fit the record.
  [[nodiscard]] const std::string& misfit() const noexcept { return misfit_; }
  [[nodiscard]] const Statistic& saved() const noexcept { return saved_; }
  /// In the order of `RowPlan::computed`.
  [[nodiscard]] std::span<const ReducedValue> computed() { return reducer_.results(); }
  [[nodiscard]] Reducer& reducer() noexcept { return reducer_.reducer(); }
  /// With --by row: the rows, if the record has any: if it has two axes or more.
  [[nodiscard]] std::optional<std::size_t> rows() const noexcept { return rows_; }
  /// The same for a row. If mergeable, of `row_reducer` alone.
  [[nodiscard]] std::span<const ReducedValue> row(std::size_t row) {
    if (mergeable_) {
      row_values_.resize(computed_);
      row_reducers_[row].results(row_values_);
      return row_values_;
    }
    return std::span(row_values_).subspan(row * computed_, computed_);
  }
  [[nodiscard]] Reducer& row_reducer(std::size_t row) { return row_reducers_[row]; }
  [[nodiscard]] bool one_element_a_row() const noexcept { return rows_ && size_ == *rows_; }

 private:
  void reduce_rows(Extent& value, const std::vector<Reduction>& computed) {
    rows_.reset();
    if (value.shape().size() < 2) {
      return;
    }
    rows_ = static_cast<std::size_t>(value.shape().front());
    computed_ = computed.size();
    row_values_.clear();
    row_reducers_.clear();
    Reducer reducer(computed, options_.reduce);
    reducer.add(dtype_, {});  // notes the type even if there are no elements
    const auto end_row = [&] {
      if (mergeable_) {
        row_reducers_.push_back(reducer);
      } else {
        row_values_.resize(row_values_.size() + computed_);
        reducer.results(std::span(row_values_).last(computed_));
      }
      reducer.clear();
      reducer.add(dtype_, {});
    };
    const std::uint64_t row_bytes = *rows_ == 0 ? 0 : value.size() / *rows_ * item_size(dtype_);
    for (std::size_t i = 0; i < *rows_ && row_bytes == 0; ++i) {
      end_row();
    }
    std::uint64_t left = row_bytes;
    value.verify_while_reading(0, value.size());
    (void)value.for_each_block([&](std::span<const std::byte> bytes) {
      while (!bytes.empty()) {
        const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(left, bytes.size()));
        reducer.add(dtype_, bytes.first(some));
        bytes = bytes.subspan(some);
        left -= some;
        if (left == 0) {
          end_row();
          left = row_bytes;
        }
      }
    });
  }

  const ReduceCommandOptions& options_;
  bool mergeable_;
  ValueReducer reducer_;
  std::uint64_t size_ = 0;
  double wall_time_ = 0;
  std::optional<std::size_t> rows_;
  std::size_t computed_ = 0;              // statistics of a row
  std::vector<ReducedValue> row_values_;  // of all rows, one after another
  std::vector<Reducer> row_reducers_;     // in their place if mergeable
  Dtype dtype_ = Dtype::float32;
  std::string misfit_;
  Statistic saved_;
};

}  // namespace smd::tool::reduce
