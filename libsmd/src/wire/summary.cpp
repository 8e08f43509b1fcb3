// SPDX-License-Identifier: Apache-2.0
#include "wire/summary.hpp"

#include "text/escape.hpp"
#include "wire/little_endian.hpp"
#include "wire/message.hpp"
#include "wire/tensor_proto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace smd::detail::wire {

namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

/// Appends one occurrence of repeated doubles, packed or not.
void append_doubles(pbf_reader& reader, std::vector<double>& into) {
  if (reader.wire_type() == pbf_wire_type::fixed64) {
    into.push_back(reader.get_double());
    return;
  }
  require_type(reader, pbf_wire_type::length_delimited);
  check_length(reader.data());
  const auto packed = reader.get_packed_double();
  into.insert(into.end(), packed.begin(), packed.end());
}

/// By field number, from 1 on.
constexpr std::array sum_fields = {&HistogramSums::min, &HistogramSums::max, &HistogramSums::num, &HistogramSums::sum,
                                   &HistogramSums::sum_squares};

HistogramSums scan_sums(std::span<const std::byte> histogram_proto, std::vector<double>& limits,
                        std::vector<double>& counts) {
  HistogramSums sums;
  for_each_field(reader_of(histogram_proto), [&](pbf_reader& field) {
    const std::uint32_t number = field.tag();
    if (number <= sum_fields.size()) {
      sums.*sum_fields[number - 1] = double_of(field);
    } else if (number == 6 || number == 7) {
      append_doubles(field, number == 6 ? limits : counts);
    }
  });
  return sums;
}

/// `at(i)`: the edges and the count of row r are numbers 3r, 3r + 1 and 3r + 2.
template <class At>
Outcome<std::optional<BucketSpan>> span_of(std::uint64_t rows, const At& at) {
  std::optional<BucketSpan> span;
  for (std::uint64_t row = 0; row < rows; ++row) {
    const double count = at(row * 3 + 2);
    if (count == 0) {
      continue;  // wherever it is: TensorFlow gives all buckets of equal elements the same edges
    }
    const double left = at(row * 3);
    const double right = at(row * 3 + 1);
    if (!(count > 0)) {
      return damaged(fmt::format("a bucket of the histogram has {} elements", count));
    }
    if (left > right || (span && left < span->max)) {
      return damaged("the buckets of the histogram do not ascend");
    }
    // NaN stays: the elements have no minimum or maximum.
    span = span ? BucketSpan{std::isnan(left) ? left : span->min, std::isnan(span->max) ? span->max : right}
                : BucketSpan{left, right};
  }
  return span;
}

/// Returns the sums and, for each bucket from the first to the last that is not empty, left and right edge and count.
Outcome<std::pair<HistogramSums, std::vector<double>>> scan_histogram(std::span<const std::byte> histogram_proto) {
  std::vector<double> limits;  // the upper ones
  std::vector<double> counts;
  const HistogramSums sums = scan_sums(histogram_proto, limits, counts);
  if (limits.size() != counts.size()) {
    return damaged(fmt::format("histogram with {} limits of {} buckets", limits.size(), counts.size()));
  }
  std::vector<double> buckets;
  std::size_t filled = 0;  // without the empty ones at the end
  std::size_t filled_limit = 0;
  double left = sums.min;
  for (std::size_t at = 0; at < counts.size(); ++at) {
    const bool empty = counts[at] == 0;
    if (empty && buckets.empty()) {
      if (std::isinf(sums.min)) {
        left = limits[at];  // an infinity lies in no bucket
      }
      continue;
    }
    buckets.insert(buckets.end(), {left, limits[at], counts[at]});
    left = limits[at];
    if (!empty) {
      filled = buckets.size();
      filled_limit = at;
    }
  }
  buckets.resize(filled);
  if (!buckets.empty()) {
    buckets[filled - 2] = std::isinf(sums.max) ? limits[filled_limit] : sums.max;
  }
  if (auto span = bucket_span(buckets); !span) {
    return std::move(span.problem());
  }
  return std::pair(sums, std::move(buckets));
}

// The functions from here on return the value of one tag in an event of TensorBoard's writers.

Value number_value(float number) {
  Value value;
  store_little(value.own(sizeof number).data(), std::bit_cast<std::uint32_t>(number));
  return value;
}

/// Returns `encoded_image_string` or `encoded_audio_string` as a string value.
Value media_value(std::span<const std::byte> message) {
  std::span<const std::byte> encoded;
  for_each_of(4, reader_of(message), [&](pbf_reader& field) { encoded = bytes_of(field); });
  Value value;
  value.dtype = Dtype::string;
  const std::span<std::byte> into = value.own(4 + encoded.size());
  store_little(into.data(), static_cast<std::uint32_t>(encoded.size()));
  std::ranges::copy(encoded, into.data() + 4);
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

Outcome<Value> tensor_value(std::span<const std::byte> message, std::optional<std::uint64_t> outlined, ValueKinds kinds,
                            ValueForm form) {
  Outcome<Value> value = decode_tensor(scan_tensor(message), message, outlined, kinds);
  if (value && value->dtype == Dtype::string) {
    if (form == ValueForm::images) {
      keep_images(*value);
    } else if (form == ValueForm::clips) {
      keep_clips(*value);
    }
  }
  return value;
}

Outcome<Value> value_of(const SummaryValue& found, std::optional<std::uint64_t> outlined, ValueKinds kinds,
                        ValueForm form) {
  if (kinds == ValueKinds::tensors && found.kind != SummaryKind::tensor && found.kind != SummaryKind::none) {
    return damaged("record holds a value of another kind, not a tensor");
  }
  switch (found.kind) {
    case SummaryKind::simple_value:
      return number_value(found.number);
    case SummaryKind::tensor:
      return tensor_value(found.message, outlined, kinds, form);
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

Outcome<std::optional<Value>> value_in(std::span<const std::byte> payload, std::string_view tag,
                                       std::optional<std::uint64_t> outlined, ValueKinds kinds, ValueForm form) {
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
  const auto found = std::ranges::find(event.values.rbegin(), event.values.rend(), tag, &SummaryValue::tag);
  if (found == event.values.rend()) {
    return damaged(
        fmt::format("record holds tensor '{}', not '{}'", printable(event.values.back().tag), printable(tag)));
  }
  const auto wrong = [&](std::string_view what) {
    return damaged(fmt::format("tensor '{}': {}", printable(tag), what));
  };
  if (kinds == ValueKinds::tensors && event.values.size() > 1) {
    if (const auto named = std::ranges::count(event.values, tag, &SummaryValue::tag); named > 1) {
      return wrong(fmt::format("{} values of that name in one record", named));
    }
  }
  // The content may belong to a tensor that was replaced, to another value, or to an earlier part of this tensor.
  if (outlined && (!event.plain || event.values.size() != 1 || found->kind != SummaryKind::tensor ||
                   has_elements(scan_tensor(found->message)))) {
    return std::optional<Value>{};
  }
  Outcome<Value> value = value_of(*found, outlined, kinds, form);
  if (!value) {
    return wrong(value.problem().text);
  }
  if (!event.whole.empty() && !value->owned) {  // the bytes may be of a message that was put together here
    const std::span<const std::byte> borrowed = value->bytes;
    std::ranges::copy(borrowed, value->own(borrowed.size()).begin());
  }
  value->wall_time = event.wall_time;
  value->step = event.step;
  return std::optional<Value>(std::move(*value));
}

}  // namespace

Outcome<Value> histogram_value(std::span<const std::byte> histogram_proto) {
  auto histogram = scan_histogram(histogram_proto);
  if (!histogram) {
    return std::move(histogram.problem());
  }
  const std::vector<double>& buckets = histogram->second;
  Value value;
  value.dtype = Dtype::float64;
  value.shape = {static_cast<std::int64_t>(buckets.size() / 3), 3};
  std::byte* at = value.own(buckets.size() * sizeof(double)).data();
  for (const double number : buckets) {
    store_little(at, std::bit_cast<std::uint64_t>(number));
    at += sizeof number;
  }
  return value;
}

Outcome<HistogramSums> histogram_sums(std::span<const std::byte> histogram_proto) {
  return guarded([&]() -> Outcome<HistogramSums> {
    auto histogram = scan_histogram(histogram_proto);
    return histogram ? Outcome(histogram->first) : std::move(histogram.problem());
  });
}

Outcome<std::optional<BucketSpan>> bucket_span(std::span<const double> buckets) {
  return span_of(buckets.size() / 3, [&](std::uint64_t i) { return buckets[i]; });
}

Outcome<std::optional<BucketSpan>> bucket_span(std::span<const std::byte> tensor_proto) {
  return guarded([&]() -> Outcome<std::optional<BucketSpan>> {
    Outcome<Value> value = decode_tensor(scan_tensor(tensor_proto), tensor_proto, {}, ValueKinds::summaries);
    if (!value) {
      return std::move(value.problem());
    }
    const bool numbers = value->dtype == Dtype::float64 || value->dtype == Dtype::float32;
    if (!numbers || value->shape.size() != 2 || value->shape[1] != 3) {
      return damaged(
          fmt::format("{} {}, where a histogram has float64 kx3", to_string(value->dtype), to_string(value->shape)));
    }
    const std::size_t item = item_size(value->dtype);
    const std::uint64_t last = value->bytes.size() / item - 1;  // equal to all that follow
    return span_of(static_cast<std::uint64_t>(value->shape[0]), [&](std::uint64_t i) -> double {
      const std::span<const std::byte> bytes = value->bytes.subspan(std::min(i, last) * item);
      return item == sizeof(double) ? std::bit_cast<double>(load_little<std::uint64_t>(bytes))
                                    : std::bit_cast<float>(load_little<std::uint32_t>(bytes));
    });
  });
}

Outcome<std::optional<Value>> parse_event(std::span<const std::byte> payload, std::string_view tag,
                                          std::optional<std::uint64_t> outlined, ValueKinds kinds, ValueForm form) {
  return guarded([&] { return value_in(payload, tag, outlined, kinds, form); });
}

}  // namespace smd::detail::wire
