// SPDX-License-Identifier: Apache-2.0
// Returns the value of one tag in an event of TensorBoard's writers.
#include "text/escape.hpp"
#include "wire/event_parser.hpp"
#include "wire/histogram_proto.hpp"
#include "wire/little_endian.hpp"
#include "wire/message.hpp"
#include "wire/summary.hpp"
#include "wire/tensor_proto.hpp"

#include <smd/tensor.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace smd::detail::wire {
namespace {

std::span<std::byte> own(Value& value, std::size_t bytes) {
  value.owned = std::make_shared_for_overwrite<std::byte[]>(bytes);
  value.bytes = {value.owned.get(), bytes};
  return {value.owned.get(), bytes};
}

Value number_value(float number) {
  Value value;
  store_little(own(value, sizeof number).data(), std::bit_cast<std::uint32_t>(number));
  return value;
}

/// Returns `encoded_image_string` or `encoded_audio_string` as a string value.
Value media_value(std::span<const std::byte> message) {
  std::span<const std::byte> encoded;
  protozero::pbf_reader reader = reader_of(message);
  while (next_field(reader)) {
    if (reader.tag() == 4) {
      encoded = bytes_of(reader);
    } else {
      skip_field(reader);
    }
  }
  Value value;
  value.dtype = Dtype::string;
  const std::span<std::byte> into = own(value, 4 + encoded.size());
  store_little(into.data(), static_cast<std::uint32_t>(encoded.size()));
  if (!encoded.empty()) {
    std::memcpy(into.data() + 4, encoded.data(), encoded.size());
  }
  return value;
}

Outcome<Value> histogram_value(std::span<const std::byte> message) {
  Outcome<HistogramBuckets> histogram = scan_histogram(message);
  if (!histogram) {
    return std::move(histogram.problem());
  }
  const std::vector<HistogramBucket> buckets = edges_of(*histogram);
  Value value;
  value.dtype = Dtype::float64;
  value.shape = {static_cast<std::int64_t>(buckets.size()), 3};
  std::byte* at = own(value, buckets.size() * 3 * sizeof(double)).data();
  for (const HistogramBucket& bucket : buckets) {
    for (const double number : {bucket.left, bucket.right, bucket.count}) {
      store_little(at, std::bit_cast<std::uint64_t>(number));
      at += sizeof number;
    }
  }
  return value;
}

/// Returns the size of the first of some packed strings, including its length.
std::size_t packed_size(std::span<const std::byte> strings) noexcept {
  return 4 + std::size_t{load_little<std::uint32_t>(strings)};
}

/// Removes width and height, the first strings of the plugin `images`. [tensorboard/plugins/image/summary_v2.py]
void keep_images(Value& value) noexcept {
  if (value.shape.size() != 1 || value.shape[0] < 2) {
    return;
  }
  value.shape[0] -= 2;
  const std::size_t width = packed_size(value.bytes);
  const std::size_t both = width + packed_size(value.bytes.subspan(width));
  value.bytes = value.bytes.subspan(both);
  value.owned = {value.owned, value.owned.get() + both};  // the same memory, from there on
}

/// Keeps the first column of the plugin `audio`, without labels. [tensorboard/plugins/audio/summary_v2.py]
void keep_clips(Value& value) noexcept {
  if (value.shape.size() != 2 || value.shape[1] == 0) {
    return;
  }
  const std::int64_t columns = value.shape[1];
  value.shape.pop_back();
  std::byte* into = value.owned.get();
  for (std::int64_t column = 0; !value.bytes.empty(); column = (column + 1) % columns) {
    const std::size_t size = packed_size(value.bytes);
    if (column == 0) {
      std::memmove(into, value.bytes.data(), size);
      into += size;
    }
    value.bytes = value.bytes.subspan(size);
  }
  value.bytes = {value.owned.get(), into};
}

Outcome<Value> tensor_value(std::span<const std::byte> message, std::optional<std::uint64_t> outlined, ValueForm form) {
  const std::span pieces(&message, 1);
  Outcome<Value> value = decode_tensor(scan_tensor(pieces), pieces, outlined, ValueKinds::summaries);
  if (value && value->dtype == Dtype::string) {
    if (form == ValueForm::images) {
      keep_images(*value);
    } else if (form == ValueForm::clips) {
      keep_clips(*value);
    }
  }
  return value;
}

Outcome<Value> value_of(const SummaryValue& found, std::optional<std::uint64_t> outlined, ValueForm form) {
  switch (found.kind) {
    case SummaryKind::simple_value:
      return number_value(found.number);
    case SummaryKind::tensor:
      return tensor_value(found.message, outlined, form);
    case SummaryKind::histogram:
      return histogram_value(found.message);
    case SummaryKind::image:
    case SummaryKind::audio:
      return media_value(found.message);
    case SummaryKind::none:
      break;
  }
  return damaged("record holds no value");
}

}  // namespace

Outcome<std::optional<Value>> parse_summary_value(std::span<const std::byte> payload, std::string_view tag,
                                                  std::optional<std::uint64_t> outlined, ValueForm form) {
  EventOutline event;
  if (auto status = outline_event(payload, event); !status) {
    return std::move(status.problem());
  }
  if (event.kind != EventKind::summary) {
    return damaged("record's event has no summary");
  }
  if (event.values.empty()) {
    return damaged("record's summary has no value");
  }
  const auto found = std::find_if(event.values.rbegin(), event.values.rend(),
                                  [tag](const SummaryValue& value) { return value.tag == tag; });
  if (found == event.values.rend()) {
    return damaged(
        fmt::format("record holds tensor '{}', not '{}'", printable(event.values.back().tag), printable(tag)));
  }
  if (outlined) {
    const std::span pieces(&found->message, 1);
    // The content may belong to a tensor that was replaced, to another value, or to an earlier part of this tensor.
    if (!event.plain || event.values.size() != 1 || found->kind != SummaryKind::tensor ||
        has_elements(scan_tensor(pieces))) {
      return std::optional<Value>{};
    }
  }
  Outcome<Value> value = value_of(*found, outlined, form);
  if (!value) {
    return damaged(fmt::format("tensor '{}': {}", printable(tag), value.problem().text));
  }
  value->wall_time = event.wall_time;
  value->step = event.step;
  return std::optional<Value>(std::move(*value));
}

}  // namespace smd::detail::wire
