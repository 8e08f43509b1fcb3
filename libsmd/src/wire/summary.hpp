// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "wire/event.hpp"

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Outlines events as TensorBoard's writers store them, without copying their values.
/// [tensorboard/compat/proto: event.proto, summary.proto, tensor.proto]
namespace smd::detail::wire {

/// The kind of a Summary.Value.
enum class SummaryKind : std::uint8_t { none, simple_value, tensor, histogram, image, audio };

/// SummaryMetadata. Writers store it with a tag's first value only.
struct SummaryMetadata {
  std::string_view plugin;             ///< `scalars`, `histograms`, `images`, `audio`, `text`, `hparams`, …
  std::span<const std::byte> content;  ///< The plugin's own message.
  std::uint64_t data_class = 0;        ///< 1 scalar, 2 tensor, 3 blob sequence.
};

/// One Summary.Value. Borrows the payload.
struct SummaryValue {
  std::string_view tag;  ///< `node_name` if the tag is empty.
  SummaryKind kind = SummaryKind::none;
  float number = 0;                    ///< Of `simple_value`.
  std::span<const std::byte> message;  ///< The message of the other kinds.
  std::optional<SummaryMetadata> metadata;
};

/// The kind of an event.
enum class EventKind : std::uint8_t {
  nothing,
  file_version,
  graph,
  summary,
  log_message,
  session_log,
  run_metadata,
  meta_graph,
};

/// SessionLog.status.
enum class SessionStatus : std::uint8_t { unspecified, start, stop, checkpoint };

/// One Event. Borrows the payload, unless a writer split a message; `values` is reused by the next call.
struct EventOutline {
  double wall_time = 0;  ///< Seconds since 1970.
  std::int64_t step = 0;
  EventKind kind = EventKind::nothing;
  SessionStatus session = SessionStatus::unspecified;
  std::vector<SummaryValue> values;
  bool plain = true;                                ///< No value was split, and nothing replaced an earlier part of it.
  std::forward_list<std::vector<std::byte>> whole;  ///< Messages that were split, put together.
};

/// Parses the payload of a record into `event`. Returns a problem of kind damaged if it is not an Event. Never throws.
Status outline_event(std::span<const std::byte> payload, EventOutline& event);

/// Type and value of a scalar.
struct ScalarBits {
  Dtype dtype = Dtype::float32;
  std::uint64_t bits = 0;  ///< The element, little endian, in the low bytes.
};
/// Returns the element of a TensorProto with one element of at most 8 bytes that is not a string. Nullopt for any
/// other, including damaged ones. Never throws.
[[nodiscard]] std::optional<ScalarBits> scalar_of_tensor(std::span<const std::byte> tensor_proto) noexcept;

/// The fields of a HistogramProto without its buckets.
struct HistogramSums {
  double min = 0;
  double max = 0;
  double num = 0;
  double sum = 0;
  double sum_squares = 0;
};
/// Returns the sums; whether the buckets fit is checked only when they are read. Returns a problem if the message is
/// damaged.
[[nodiscard]] Outcome<HistogramSums> histogram_sums(std::span<const std::byte> histogram_proto);
/// Returns the buckets from the first to the last that is not empty, as TensorBoard converts them: float64 of shape
/// [k,3], left and right edge and count of each. The least element is the left edge of the first, the greatest one the
/// right edge of the last. PyTorch begins with an empty bucket, for its limit only; TensorFlow's last one ends at the
/// greatest double. Returns a problem if there are not as many limits as counts. [tensorboard/data_compat.py]
/// @throws protozero::exception, std::bad_alloc
[[nodiscard]] Outcome<Value> histogram_value(std::span<const std::byte> histogram_proto);
/// The outermost edges of buckets.
struct BucketSpan {
  double min = 0;
  double max = 0;
};
/// Returns the outermost edges of the buckets that are not empty: left, right and count of each bucket. Nullopt if all
/// are.
[[nodiscard]] std::optional<BucketSpan> bucket_span(std::span<const double> buckets);
/// Returns the outermost edges of the buckets that are not empty, of a tensor [k,3] of the plugin `histograms` (left,
/// right, count of each bucket). Nullopt if all are empty, or k is 0.
[[nodiscard]] Outcome<std::optional<BucketSpan>> bucket_span(std::span<const std::byte> tensor_proto);

/// One hyperparameter of the plugin `hparams`.
struct Hyperparameter {
  std::string_view name;
  /// The value as JSON: a number, a quoted text, true, false, null, or a list of these.
  std::string json;
};
/// Returns the hyperparameters in the plugin's content, by name; empty if it has none or is damaged. Numbers that JSON
/// lacks are the texts "NaN", "Infinity" and "-Infinity". [tensorboard/plugins/hparams/plugin_data.proto]
[[nodiscard]] std::vector<Hyperparameter> hyperparameters(std::span<const std::byte> content);

}  // namespace smd::detail::wire
