// SPDX-License-Identifier: Apache-2.0
#include <smd/reduction.hpp>

#include "reduce/doubles.hpp"
#include "reduce/kernels.hpp"
#include "types/refuse.hpp"

#include <algorithm>
#include <cmath>

namespace smd {

using detail::reduce::block_padding;
using detail::reduce::block_size;

Histogram::Histogram(std::uint64_t bins, double low, double high) {
  detail::refuse_if(bins == 0 || bins > (std::uint64_t{1} << 24), "number of bins must be 1 to 16777216");
  detail::refuse_if(!std::isfinite(low) || !std::isfinite(high) || low > high,
                    "bounds of a histogram must be finite and in order");
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  const auto parts = static_cast<double>(bins);
  const bool far = !std::isfinite(high - low);  // the distance overflows double, half of it does not
  unit_ = far ? 0.5 : 1;
  // As numpy.linspace.
  const double step = (high - low) / parts;
  edges_.resize(bins + 1);
  for (std::uint64_t i = 0; i <= bins; ++i) {
    const auto part = static_cast<double>(i);
    edges_[i] = far ? low * (1 - part / parts) + high * (part / parts) : part * step + low;
  }
  edges_.back() = high;
  counts_.resize(bins);
  per_unit_ = parts / (high * unit_ - low * unit_);
}

void Histogram::add(const TensorView& view) {
  if (!is_real(view.dtype())) {
    throw InvalidArgument("no histogram of " + std::string(to_string(view.dtype())));
  }
  const double low = edges_.front();
  const double high = edges_.back();
  const std::size_t last = counts_.size() - 1;
  const std::size_t item = item_size(view.dtype());
  const auto size = static_cast<std::size_t>(element_count(view));
  alignas(64) double values[block_size + block_padding];
  for (std::size_t start = 0; start < size; start += block_size) {
    const std::size_t n = std::min(block_size, size - start);
    detail::reduce::to_doubles(view.dtype(), view.bytes().data() + start * item, n, values);
    for (std::size_t i = 0; i < n; ++i) {
      const double value = values[i];
      if (!(value >= low && value <= high)) {
        ++(std::isnan(value) ? nan_ : (value < low ? below_ : above_));
        continue;
      }
      // The guess may be off by rounding; the edges decide.
      const double guess = (value * unit_ - low * unit_) * per_unit_;
      std::size_t bin = guess < static_cast<double>(last) ? static_cast<std::size_t>(guess) : last;
      while (value < edges_[bin]) {
        --bin;
      }
      while (bin != last && value >= edges_[bin + 1]) {
        ++bin;
      }
      ++counts_[bin];
    }
  }
}

void Histogram::merge(const Histogram& other) {
  detail::refuse_if(edges_ != other.edges_, "histograms of different bins cannot be merged");
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] += other.counts_[i];
  }
  below_ += other.below_;
  above_ += other.above_;
  nan_ += other.nan_;
}

void Histogram::clear() noexcept {
  std::fill(counts_.begin(), counts_.end(), 0);
  below_ = above_ = nan_ = 0;
}

}  // namespace smd
