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

/// Events as TensorBoard's writers lay them down: what stands in each, before anything of it is kept.
/// [tensorboard/compat/proto: event.proto, summary.proto, tensor.proto]
namespace smd::detail::wire {

/// What a Summary.Value holds.
enum class SummaryKind : std::uint8_t { none, simple_value, tensor, histogram, image, audio };

/// SummaryMetadata. Writers give it with a tag's first value only.
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
  std::span<const std::byte> message;  ///< Of the other kinds: the message in it.
  std::optional<SummaryMetadata> metadata;
};

/// What an event is about.
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

/// Parses the payload of a record into `event`. A problem (kind damaged) if it is no Event. Never throws.
Status outline_event(std::span<const std::byte> payload, EventOutline& event);

/// Type, shape and bits of a TensorProto with one element of at most 8 bytes that is no string: a scalar's value.
/// nullopt for any other, damaged ones included. Never throws.
struct ScalarBits {
  Dtype dtype = Dtype::float32;
  std::uint64_t bits = 0;  ///< The element, little endian, in the low bytes.
};
[[nodiscard]] std::optional<ScalarBits> scalar_of_tensor(std::span<const std::byte> tensor_proto) noexcept;

/// Type and shape of a TensorProto; its elements are checked when the value is read. Never throws.
struct TensorOutline {
  Dtype dtype = Dtype::float32;
  Shape shape;
};
[[nodiscard]] Outcome<TensorOutline> outline_tensor(std::span<const std::byte> tensor_proto);

/// A HistogramProto, or a tensor [k,3] of the plugin `histograms` (left, right, count of each bucket).
struct HistogramSums {
  double min = 0;
  double max = 0;
  double num = 0;
  double sum = 0;
  double sum_squares = 0;
};
/// Of a HistogramProto; its buckets are checked when they are read. A problem if it is damaged.
[[nodiscard]] Outcome<HistogramSums> histogram_sums(std::span<const std::byte> histogram_proto);
/// The outermost edges of the buckets of a tensor [k,3] that are not empty; nullopt if all are empty (or k is 0).
struct BucketSpan {
  double min = 0;
  double max = 0;
};
[[nodiscard]] Outcome<std::optional<BucketSpan>> bucket_span(std::span<const std::byte> tensor_proto);

/// One hyperparameter of the plugin `hparams`.
struct Hyperparameter {
  std::string_view name;
  /// The value as JSON: a number, a quoted text, true, false, null, or a list of these.
  std::string json;
};
/// Those in the plugin's content, by name; empty if it holds none or is damaged. Numbers that JSON lacks are the texts
/// "NaN", "Infinity" and "-Infinity". [tensorboard/plugins/hparams/plugin_data.proto]
[[nodiscard]] std::vector<Hyperparameter> hyperparameters(std::span<const std::byte> content);

}  // namespace smd::detail::wire
