// SPDX-License-Identifier: Apache-2.0
#include "record_sink.hpp"

#include <utility>

namespace smd::tool::reduce {

bool RecordSink::start(Dtype dtype) {
  if (dtype == Dtype::string) {
    return false;
  }
  at_once_ = false;
  saved_ = Statistic();
  if (plan_ == nullptr || (plan_->needs_values && !mergeable_)) {
    return true;
  }
  if (reducer_of_ == plan_) {
    reducer_->clear();
  } else {
    reducer_.emplace(plan_->computed, options_);
    reducer_of_ = plan_;
  }
  return true;
}

void RecordSink::take(const TensorView& view, bool whole) {
  if (plan_ == nullptr) {
    saved_ = whole && view.size() == 1 ? Statistic::of(view) : Statistic();
    return;
  }
  if (plan_->needs_values && !mergeable_) {
    if (whole) {
      values_ = smd::reduce(view, plan_->computed, options_);
      at_once_ = true;
      return;
    }
    if (reducer_of_ != plan_) {
      reducer_.emplace(plan_->computed, options_);
      reducer_of_ = plan_;
    }
  }
  reducer_->add(view);
}

bool RecordSink::take_repeated(std::span<const std::byte> element, std::uint64_t count) {
  if (plan_ == nullptr) {
    return false;
  }
  reducer_->add_repeated(dtype(), element, count);
  return true;
}

std::span<const ReducedValue> RecordSink::values() {
  if (!at_once_) {
    values_.resize(plan_->computed.size());
    reducer_->results(values_);
    if (plan_->needs_values) {
      reducer_of_ = nullptr;  // frees the elements kept
      reducer_.reset();
    }
  }
  return values_;
}

Reducer RecordSink::take_reducer() {
  Reducer taken = std::move(*reducer_);
  reducer_of_ = nullptr;
  reducer_.reset();
  return taken;
}

}  // namespace smd::tool::reduce
