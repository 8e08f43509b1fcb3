// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Event messages that TensorBoard reads.
namespace smd::detail::wire {

struct SummaryHeader {
  std::string_view tag;
  double wall_time = 0;
  std::int64_t step = 0;  ///< Global step.
};

/// Content of a HistogramProto: `bucket[i]` counts elements from `bucket_limit[i - 1]` to below `bucket_limit[i]`.
struct HistogramSummary {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0;
  std::vector<double> bucket_limit;
  std::vector<double> bucket;
};

/// Appends an Event with one `simple_value`.
void append_scalar_summary(std::string& out, const SummaryHeader& header, float value);
/// Appends an Event with one `histo`.
void append_histogram_summary(std::string& out, const SummaryHeader& header, const HistogramSummary& histogram);
/// Appends an Event with one string tensor for TensorBoard's text view.
void append_text_summary(std::string& out, const SummaryHeader& header, std::span<const std::string_view> texts);

}  // namespace smd::detail::wire
