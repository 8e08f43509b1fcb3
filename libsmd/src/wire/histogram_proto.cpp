// SPDX-License-Identifier: Apache-2.0
#include "wire/histogram_proto.hpp"

#include "wire/little_endian.hpp"
#include "wire/message.hpp"
#include "wire/tensor_proto.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace smd::detail::wire {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

double double_in(std::span<const std::byte> bytes) noexcept {
  return std::bit_cast<double>(load_little<std::uint64_t>(bytes));
}

/// Appends one occurrence of repeated doubles, packed or not. If `into` is null, only checks it.
void take_doubles(pbf_reader& reader, std::vector<double>* into) {
  if (reader.wire_type() == pbf_wire_type::fixed64) {
    const double number = reader.get_double();
    if (into != nullptr) {
      into->push_back(number);
    }
    return;
  }
  std::span<const std::byte> packed = bytes_of(reader);
  if (packed.size() % sizeof(double) != 0) {
    throw protozero::invalid_length_exception{};
  }
  if (into != nullptr) {
    into->reserve(into->size() + packed.size() / sizeof(double));
    for (; !packed.empty(); packed = packed.subspan(sizeof(double))) {
      into->push_back(double_in(packed));
    }
  }
}

/// Scans the sums; `buckets` may be null.
HistogramSums scan_sums(std::span<const std::byte> histogram_proto, HistogramBuckets* buckets) {
  HistogramSums sums;
  pbf_reader reader = reader_of(histogram_proto);
  while (next_field(reader)) {
    switch (reader.tag()) {
      case 1:
        sums.min = double_of(reader);
        break;
      case 2:
        sums.max = double_of(reader);
        break;
      case 3:
        sums.num = double_of(reader);
        break;
      case 4:
        sums.sum = double_of(reader);
        break;
      case 5:
        sums.sum_squares = double_of(reader);
        break;
      case 6:
        take_doubles(reader, buckets == nullptr ? nullptr : &buckets->limits);
        break;
      case 7:
        take_doubles(reader, buckets == nullptr ? nullptr : &buckets->counts);
        break;
      default:
        skip_field(reader);
    }
  }
  return sums;
}

/// Access to the elements of a floating-point tensor [k,3].
class BucketTable {
 public:
  explicit BucketTable(const Value& value) : value_(value), item_(item_size(value.dtype)) {}

  [[nodiscard]] double at(std::uint64_t element) const noexcept {
    const std::uint64_t last = value_.bytes.size() / item_ - 1;  // equal to all that follow
    const std::span<const std::byte> bytes = value_.bytes.subspan(std::min(element, last) * item_);
    return item_ == sizeof(double) ? double_in(bytes) : std::bit_cast<float>(load_little<std::uint32_t>(bytes));
  }

 private:
  const Value& value_;
  std::size_t item_;
};

/// `at(i)`: the edges and the count of row r are numbers 3r, 3r + 1 and 3r + 2.
template <class At>
std::optional<BucketSpan> span_of(std::uint64_t rows, const At& at) {
  std::optional<BucketSpan> span;
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (!(at(row * 3 + 2) > 0)) {
      continue;
    }
    const double left = at(row * 3);
    const double right = at(row * 3 + 1);
    if (!span) {
      span = BucketSpan{left, right};
    }
    // NaN stays: the elements have no minimum or maximum.
    if (left < span->min || std::isnan(left)) {
      span->min = left;
    }
    if (right > span->max || std::isnan(right)) {
      span->max = right;
    }
  }
  return span;
}

}  // namespace

Outcome<HistogramBuckets> scan_histogram(std::span<const std::byte> histogram_proto) {
  HistogramBuckets histogram;
  histogram.sums = scan_sums(histogram_proto, &histogram);
  if (histogram.limits.size() != histogram.counts.size()) {
    return damaged(
        fmt::format("histogram with {} limits of {} buckets", histogram.limits.size(), histogram.counts.size()));
  }
  return histogram;
}

std::vector<HistogramBucket> edges_of(const HistogramBuckets& histogram) {
  std::vector<HistogramBucket> buckets;
  std::size_t filled = 0;  // without the empty ones at the end
  std::size_t filled_limit = 0;
  const HistogramSums& sums = histogram.sums;
  double left = sums.min;
  for (std::size_t at = 0; at < histogram.counts.size(); ++at) {
    const bool empty = !(histogram.counts[at] > 0);
    if (empty && buckets.empty()) {
      if (std::isinf(sums.min)) {
        left = histogram.limits[at];  // an infinity lies in no bucket
      }
      continue;
    }
    buckets.push_back({left, histogram.limits[at], histogram.counts[at]});
    left = histogram.limits[at];
    if (!empty) {
      filled = buckets.size();
      filled_limit = at;
    }
  }
  buckets.resize(filled);
  if (!buckets.empty()) {
    buckets.back().right = std::isinf(sums.max) ? histogram.limits[filled_limit] : sums.max;
  }
  return buckets;
}

Outcome<HistogramSums> histogram_sums(std::span<const std::byte> histogram_proto) {
  return guarded([&]() -> Outcome<HistogramSums> { return scan_sums(histogram_proto, nullptr); });
}

std::optional<BucketSpan> bucket_span(std::span<const double> buckets) {
  return span_of(buckets.size() / 3, [&](std::uint64_t i) { return buckets[i]; });
}

Outcome<std::optional<BucketSpan>> bucket_span(std::span<const std::byte> tensor_proto) {
  return guarded([&]() -> Outcome<std::optional<BucketSpan>> {
    const std::span pieces(&tensor_proto, 1);
    Outcome<Value> value = decode_tensor(scan_tensor(pieces), pieces, {}, ValueKinds::summaries);
    if (!value) {
      return std::move(value.problem());
    }
    const bool numbers = value->dtype == Dtype::float64 || value->dtype == Dtype::float32;
    if (!numbers || value->shape.size() != 2 || value->shape[1] != 3) {
      return damaged(
          fmt::format("{} {}, where a histogram has float64 kx3", to_string(value->dtype), to_string(value->shape)));
    }
    const BucketTable table(*value);
    return span_of(static_cast<std::uint64_t>(value->shape[0]), [&](std::uint64_t i) { return table.at(i); });
  });
}

}  // namespace smd::detail::wire
