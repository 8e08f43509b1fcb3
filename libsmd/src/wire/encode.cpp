// SPDX-License-Identifier: Apache-2.0
#include "wire/encode.hpp"

#include "wire/framing.hpp"
#include "wire/tensor_proto.hpp"

#include <smd/dtype.hpp>

#include <protozero/pbf_writer.hpp>

namespace smd::detail::wire {

namespace {

using protozero::pbf_writer;

void add_text(pbf_writer& message, std::uint32_t field, std::string_view text) {
  message.add_bytes(field, text.data(), text.size());
}

/// Appends key and length of a field whose content follows. Every field number here is below 16: a key is one byte.
void append_length(std::string& out, std::uint32_t field, std::size_t bytes) {
  out.push_back(static_cast<char>(field << 3 | 2));
  protozero::add_varint_to_buffer(&out, bytes);
}

/// Returns the size of what `append_length` writes, plus that many bytes.
std::size_t field_bytes(std::size_t bytes) noexcept {
  return 1 + static_cast<std::size_t>(protozero::length_of_varint(bytes)) + bytes;
}

/// Returns a SummaryMetadata message; empty if it has no fields.
std::string metadata(const EventHeader& header) {
  std::string out;
  const auto add_plugin = [&](std::string_view name, const std::optional<std::int64_t>& number) {
    if (number) {
      std::string plugin;
      pbf_writer fields(plugin);
      add_text(fields, 1, name);
      fields.add_string(2, std::to_string(*number));
      pbf_writer(out).add_message(1, plugin);
    }
  };
  add_plugin("mode_step", header.mode_step);
  add_plugin("mode", header.mode);
  return out;
}

/// Returns a TensorShapeProto.
std::string shape(std::string_view tag, std::span<const std::int64_t> dims) {
  std::string out;
  for (const std::int64_t size : dims) {
    std::string dim;
    pbf_writer fields(dim);
    if (size != 0) {
      fields.add_int64(1, size);
    }
    fields.add_string(2, std::string(tag) + '_' + std::to_string(size));
    pbf_writer(out).add_message(2, dim);
  }
  return out;
}

/// Appends the whole message up to the elements and returns what follows them. With `room`, reserves memory in `out`
/// for all of it at once, including a record's footer.
std::string append_front(std::string& out, const EventHeader& header, const TensorExtent& value,
                         std::span<const std::string_view> texts, bool room) {
  const bool is_string = value.dtype == Dtype::string;
  std::string front;
  pbf_writer fields(front);
  if (!is_string) {
    fields.add_uint32(tensor_field::dtype, static_cast<std::uint32_t>(value.dtype));
  }
  fields.add_message(tensor_field::shape, shape(header.tag, value.shape));
  std::size_t tensor_bytes = front.size();
  if (is_string) {
    for (const std::string_view text : texts) {
      tensor_bytes += field_bytes(text.size());
    }
  } else if (value.bytes > 0) {
    tensor_bytes += field_bytes(value.bytes);
  }
  std::string back;
  if (const std::string plugins = metadata(header); !plugins.empty()) {
    pbf_writer(back).add_message(9, plugins);
  }
  const std::size_t value_bytes =
      (header.tag.empty() ? 0 : field_bytes(header.tag.size())) + field_bytes(tensor_bytes) + back.size();
  if (room) {  // with the time and the step
    out.reserve(out.size() + field_bytes(field_bytes(value_bytes)) + 20 + footer_bytes);
  }
  pbf_writer event(out);
  if (header.wall_time != 0) {
    event.add_double(1, header.wall_time);
  }
  if (header.step != 0) {
    event.add_int64(2, header.step);
  }
  append_length(out, 5, field_bytes(value_bytes));  // Event.summary
  append_length(out, 1, value_bytes);               // Summary.value
  if (!header.tag.empty()) {
    add_text(event, 1, header.tag);
  }
  append_length(out, 8, tensor_bytes);
  out.append(front);
  if (!is_string && value.bytes > 0) {
    append_length(out, tensor_field::content, value.bytes);
  }
  return back;
}

/// Appends an Event whose summary has one value: the tag and the fields in `body`.
void append_value(std::string& out, const EventHeader& header, std::string_view body) {
  pbf_writer event(out);
  event.add_double(1, header.wall_time);
  if (header.step != 0) {
    event.add_int64(2, header.step);
  }
  pbf_writer summary(event, 5);
  pbf_writer value(summary, 1);
  add_text(value, 1, header.tag);
  out.append(body);
}

}  // namespace

void append_event(std::string& out, const EventHeader& header, const TensorView& value) {
  // Elements are copied only once, to `out`.
  const std::vector<std::string_view> texts = strings(value);
  const std::string back = append_front(out, header, {value.dtype(), value.shape(), value.bytes().size()}, texts, true);
  if (value.dtype() == Dtype::string) {
    pbf_writer fields(out);
    for (const std::string_view text : texts) {
      add_text(fields, tensor_field::string_val, text);
    }
  } else {
    out.append(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
  }
  out.append(back);
}

void append_event_around(std::string& front, std::string& back, const EventHeader& header, const TensorExtent& value) {
  back.append(append_front(front, header, value, {}, false));
}

void append_scalar_summary(std::string& out, const EventHeader& header, float value) {
  std::string body;
  pbf_writer(body).add_float(2, value);
  append_value(out, header, body);
}

void append_histogram_summary(std::string& out, const EventHeader& header, const HistogramSummary& histogram) {
  std::string histo;
  pbf_writer fields(histo);
  std::uint32_t field = 0;
  for (const double number : {histogram.min, histogram.max, histogram.num, histogram.sum, histogram.sum_squares}) {
    fields.add_double(++field, number);
  }
  for (const std::vector<double>* const numbers : {&histogram.bucket_limit, &histogram.bucket}) {
    ++field;
    if (numbers->empty()) {
      fields.add_message(field, "", 0);  // which `add_packed_double` would leave out
    } else {
      fields.add_packed_double(field, numbers->begin(), numbers->end());
    }
  }
  std::string body;
  pbf_writer(body).add_message(5, histo);
  append_value(out, header, body);
}

void append_text_summary(std::string& out, const EventHeader& header, std::span<const std::string_view> texts) {
  std::string body;
  pbf_writer value(body);
  pbf_writer tensor(value, 8);
  tensor.add_uint32(tensor_field::dtype, static_cast<std::uint32_t>(Dtype::string));
  pbf_writer shape(tensor, tensor_field::shape);
  pbf_writer(shape, 2).add_uint64(1, texts.size());
  shape.commit();
  for (const std::string_view text : texts) {
    add_text(tensor, tensor_field::string_val, text);
  }
  tensor.commit();
  pbf_writer metadata(value, 9);
  pbf_writer(metadata, 1).add_string(1, "text");
  metadata.commit();
  append_value(out, header, body);
}

}  // namespace smd::detail::wire
