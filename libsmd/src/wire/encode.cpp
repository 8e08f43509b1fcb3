// SPDX-License-Identifier: Apache-2.0
#include "wire/encode.hpp"

#include "wire/framing.hpp"
#include "wire/tensor_proto.hpp"

#include <smd/dtype.hpp>

namespace smd::detail::wire {

namespace {

std::string plugin(std::string_view name, std::int64_t number) {
  std::string data;
  append_text(data, 1, name);
  append_text(data, 2, std::to_string(number));
  return data;
}

/// Returns a SummaryMetadata message; empty if it has no fields.
std::string metadata(const EventHeader& header) {
  std::string out;
  if (header.mode_step) {
    append_text(out, 1, plugin("mode_step", *header.mode_step));
  }
  if (header.mode) {
    append_text(out, 1, plugin("mode", *header.mode));
  }
  return out;
}

/// Returns a TensorShapeProto.
std::string shape(std::string_view tag, std::span<const std::int64_t> dims) {
  std::string out;
  for (const std::int64_t size : dims) {
    std::string dim;
    if (size != 0) {
      append_key(dim, 1, varint);
      append_varint(dim, static_cast<std::uint64_t>(size));
    }
    append_text(dim, 2, std::string(tag) + '_' + std::to_string(size));
    append_text(out, 2, dim);
  }
  return out;
}

/// Appends the whole message up to the elements and returns what follows them. With `room`, reserves memory in `out`
/// for all of it at once, including a record's footer.
std::string append_front(std::string& out, const EventHeader& header, const TensorExtent& value,
                         std::span<const std::string_view> texts, bool room) {
  const bool is_string = value.dtype == Dtype::string;
  std::string front;
  if (!is_string) {
    append_key(front, tensor_field::dtype, varint);
    append_varint(front, static_cast<std::uint64_t>(value.dtype));
  }
  append_text(front, tensor_field::shape, shape(header.tag, value.shape));
  std::size_t tensor_bytes = front.size();
  if (is_string) {
    for (const std::string_view text : texts) {
      tensor_bytes += field_bytes(text.size());
    }
  } else if (value.bytes > 0) {
    tensor_bytes += field_bytes(value.bytes);
  }
  const std::string plugins = metadata(header);
  const std::size_t value_bytes = (header.tag.empty() ? 0 : field_bytes(header.tag.size())) +
                                  field_bytes(tensor_bytes) + (plugins.empty() ? 0 : field_bytes(plugins.size()));
  if (room) {  // with the time and the step
    out.reserve(out.size() + field_bytes(field_bytes(value_bytes)) + 20 + footer_bytes);
  }
  if (header.wall_time != 0) {
    append_double(out, 1, header.wall_time);
  }
  if (header.step != 0) {
    append_key(out, 2, varint);
    append_varint(out, static_cast<std::uint64_t>(header.step));
  }
  append_length(out, 5, field_bytes(value_bytes));  // Event.summary
  append_length(out, 1, value_bytes);               // Summary.value
  if (!header.tag.empty()) {
    append_text(out, 1, header.tag);
  }
  append_length(out, 8, tensor_bytes);
  out.append(front);
  if (!is_string && value.bytes > 0) {
    append_length(out, tensor_field::content, value.bytes);
  }
  std::string back;
  if (!plugins.empty()) {
    append_text(back, 9, plugins);
  }
  return back;
}

}  // namespace

void append_event(std::string& out, const EventHeader& header, const TensorView& value) {
  // Elements are copied only once, to `out`.
  const std::vector<std::string_view> texts = strings(value);
  const std::string back = append_front(out, header, {value.dtype(), value.shape(), value.bytes().size()}, texts, true);
  if (value.dtype() == Dtype::string) {
    for (const std::string_view text : texts) {
      append_text(out, tensor_field::string_val, text);
    }
  } else {
    out.append(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
  }
  out.append(back);
}

void append_event_around(std::string& front, std::string& back, const EventHeader& header, const TensorExtent& value) {
  back.append(append_front(front, header, value, {}, false));
}

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
