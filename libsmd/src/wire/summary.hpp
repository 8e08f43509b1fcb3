// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "wire/event.hpp"
#include "wire/event_outline.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Reads the values of summaries as TensorBoard's writers store them.
namespace smd::detail::wire {

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
/// Returns the sums. Returns a problem if the message is damaged, or as `histogram_value`.
[[nodiscard]] Outcome<HistogramSums> histogram_sums(std::span<const std::byte> histogram_proto);
/// Returns the buckets from the first to the last that is not empty, as TensorBoard converts them: float64 of shape
/// [k,3], left and right edge and count of each. The least element is the left edge of the first, the greatest one the
/// right edge of the last. PyTorch begins with an empty bucket, for its limit only; TensorFlow's last one ends at the
/// greatest double. Returns a problem if there are not as many limits as counts, and as `bucket_span`.
/// [tensorboard/data_compat.py]
/// @throws protozero::exception, std::bad_alloc
[[nodiscard]] Outcome<Value> histogram_value(std::span<const std::byte> histogram_proto);
/// The outermost edges of buckets.
struct BucketSpan {
  double min = 0;
  double max = 0;
};
/// Returns the outermost edges of the buckets that are not empty: left, right and count of each bucket. Nullopt if all
/// are. Returns a problem if these do not ascend, or a count is negative or NaN.
[[nodiscard]] Outcome<std::optional<BucketSpan>> bucket_span(std::span<const double> buckets);
/// Returns the outermost edges of the buckets that are not empty, of a tensor [k,3] of the plugin `histograms` (left,
/// right, count of each bucket), as above.
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
