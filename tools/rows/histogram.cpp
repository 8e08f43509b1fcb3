// SPDX-License-Identifier: Apache-2.0
#include "rows/histogram.hpp"

#include "cli/exit_status.hpp"

#include <smd/elements.hpp>
#include <smd/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

namespace smd::tool {

Histogram::Histogram(std::uint64_t bins, double low, double high) {
  refuse_if(bins == 0 || bins > (std::uint64_t{1} << 24), "number of bins must be 1 to 16777216");
  refuse_if(!std::isfinite(low) || !std::isfinite(high) || low > high,
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
  std::array<double, 1024> values;
  std::size_t n = 0;
  for (std::uint64_t start = 0; (n = copy_as_doubles(view, start, values)) > 0; start += n) {
    for (const double value : std::span(values).first(n)) {
      if (!(value >= low && value <= high)) {
        ++(std::isnan(value) ? nan_ : outside_);
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

bool Histogram::add(Extent& value) {
  value.in_any_order();
  value.verify_while_reading(0, value.size());
  return value.for_each_block([&](std::span<const std::byte> bytes) {
    const auto count = static_cast<std::int64_t>(bytes.size() / item_size(value.dtype()));
    add(TensorView(value.dtype(), {&count, 1}, bytes));
  });
}

void Histogram::merge(const Histogram& other) {
  refuse_if(edges_ != other.edges_, "histograms of different bins cannot be merged");
  std::ranges::transform(counts_, other.counts_, counts_.begin(), std::plus<>());
  outside_ += other.outside_;
  nan_ += other.nan_;
}

void Histogram::clear() noexcept {
  std::fill(counts_.begin(), counts_.end(), 0);
  outside_ = nan_ = 0;
}

}  // namespace smd::tool
