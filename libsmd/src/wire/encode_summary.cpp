// SPDX-License-Identifier: Apache-2.0
#include "wire/encode_summary.hpp"

#include <smd/dtype.hpp>

#include "wire/message_writer.hpp"
#include "wire/tensor_proto.hpp"

namespace smd::detail::wire {
namespace {

/// Appends an Event whose summary has one value: the tag and the fields in `body`.
void append_value(std::string& out, const SummaryHeader& header, std::string_view body) {
  std::string value;
  append_text(value, 1, header.tag);
  value.append(body);
  append_double(out, 1, header.wall_time);
  if (header.step != 0) {
    append_key(out, 2, varint);
    append_varint(out, static_cast<std::uint64_t>(header.step));
  }
  append_length(out, 5, field_bytes(value.size()));  // Event.summary
  append_text(out, 1, value);                        // Summary.value
}

void append_packed(std::string& out, std::uint32_t field, const std::vector<double>& numbers) {
  append_length(out, field, numbers.size() * sizeof(double));
  for (const double number : numbers) {
    append_bits(out, std::bit_cast<std::uint64_t>(number));
  }
}

}  // namespace

void append_scalar_summary(std::string& out, const SummaryHeader& header, float value) {
  std::string body;
  append_float(body, 2, value);
  append_value(out, header, body);
}

void append_histogram_summary(std::string& out, const SummaryHeader& header, const HistogramSummary& histogram) {
  std::string histo;
  append_double(histo, 1, histogram.min);
  append_double(histo, 2, histogram.max);
  append_double(histo, 3, histogram.num);
  append_double(histo, 4, histogram.sum);
  append_double(histo, 5, histogram.sum_squares);
  append_packed(histo, 6, histogram.bucket_limit);
  append_packed(histo, 7, histogram.bucket);
  std::string body;
  append_text(body, 5, histo);
  append_value(out, header, body);
}

void append_text_summary(std::string& out, const SummaryHeader& header, std::span<const std::string_view> texts) {
  std::string dim;
  append_key(dim, 1, varint);
  append_varint(dim, texts.size());
  std::string shape;
  append_text(shape, 2, dim);
  std::string tensor;
  append_key(tensor, tensor_field::dtype, varint);
  append_varint(tensor, static_cast<std::uint64_t>(Dtype::string));
  append_text(tensor, tensor_field::shape, shape);
  for (const std::string_view text : texts) {
    append_text(tensor, tensor_field::string_val, text);
  }
  std::string plugin;
  append_text(plugin, 1, "text");
  std::string metadata;
  append_text(metadata, 1, plugin);
  std::string body;
  append_text(body, 8, tensor);
  append_text(body, 9, metadata);
  append_value(out, header, body);
}

}  // namespace smd::detail::wire
