// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/tensor_view.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::wire {

/// Fields of a record other than the elements.
struct EventHeader {
  std::string_view tag;
  double wall_time = 0;
  std::int64_t step = 0;                       ///< Global step.
  std::optional<std::int64_t> mode_step = {};  ///< Plugin data; omitted if not set.
  std::optional<std::int64_t> mode = {};       ///< Plugin data; omitted if not set; the numbers of `smd::Mode`.
};

/// A tensor without its elements.
struct TensorExtent {
  Dtype dtype = Dtype::float64;
  std::span<const std::int64_t> shape;
  std::uint64_t bytes = 0;  ///< Of its elements.
};

/// Appends an Event message with one tensor, byte for byte as the reference writes it: string tensors without a type,
/// names of dimensions, plugin data.
void append_event(std::string& out, const EventHeader& header, const TensorView& value);

/// As above, but without the elements: the message consists of the bytes appended to `front`, the elements' bytes, and
/// the bytes appended to `back`. Not for strings, whose elements are not contiguous.
void append_event_around(std::string& front, std::string& back, const EventHeader& header, const TensorExtent& value);

// Event messages that TensorBoard reads. They have no plugin data.

/// Content of a HistogramProto: `bucket[i]` counts elements from `bucket_limit[i - 1]` to below `bucket_limit[i]`.
struct HistogramSummary {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0;
  std::vector<double> bucket_limit;
  std::vector<double> bucket;
};

/// Appends an Event with one `simple_value`.
void append_scalar_summary(std::string& out, const EventHeader& header, float value);
/// Appends an Event with one `histo`.
void append_histogram_summary(std::string& out, const EventHeader& header, const HistogramSummary& histogram);
/// Appends an Event with one string tensor for TensorBoard's text view.
void append_text_summary(std::string& out, const EventHeader& header, std::span<const std::string_view> texts);

}  // namespace smd::detail::wire
