// SPDX-License-Identifier: Apache-2.0
// Reduces values that are read block by block.
#include <smd/reduction.hpp>
#include <smd/value_reader.hpp>

#include <algorithm>

namespace smd {

/// Chooses how a value of that size is reduced.
void ValueReducer::begin(const std::vector<Reduction>& wanted, std::uint64_t bytes) {
  if (wanted_ != &wanted) {
    reducer_.reset();
    wanted_ = &wanted;
    needs_values_ = std::any_of(wanted.begin(), wanted.end(), needs_values);
  }
  at_once_ = needs_values_ && !mergeable_ && bytes <= Extent::most_view_bytes;
  if (at_once_) {
    return;
  }
  if (reducer_) {
    reducer_->clear();
  } else {
    reducer_.emplace(wanted, options_);
  }
}

bool ValueReducer::reduce(Extent& value, const std::vector<Reduction>& wanted) {
  const bool in_pieces = value.repeats() != 0;
  begin(wanted, in_pieces ? UINT64_MAX : value.size() * item_size(value.dtype()));
  if (!at_once_) {
    return reducer_->add(value);
  }
  const std::span<const std::byte> bytes = value.view(0, value.size());
  if (bytes.empty() && value.size() != 0) {
    return false;
  }
  results_ = smd::reduce(TensorView(value.dtype(), value.shape(), bytes), wanted, options_);
  return true;
}

void ValueReducer::reduce(const TensorView& view, const std::vector<Reduction>& wanted) {
  begin(wanted, view.bytes().size());
  if (at_once_) {
    results_ = smd::reduce(view, wanted, options_);
  } else {
    reducer_->add(view);
  }
}

std::span<const ReducedValue> ValueReducer::results() {
  if (!at_once_) {
    results_.resize(wanted_->size());
    reducer_->results(results_);
    if (needs_values_ && !mergeable_) {
      at_once_ = true;
      reducer_.reset();  // frees the elements kept
    }
  }
  return results_;
}

}  // namespace smd
