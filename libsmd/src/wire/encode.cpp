// SPDX-License-Identifier: Apache-2.0
#include "wire/encode.hpp"

#include <smd/dtype.hpp>

#include "wire/framing.hpp"
#include "wire/message_writer.hpp"
#include "wire/tensor_proto.hpp"

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

}  // namespace smd::detail::wire
