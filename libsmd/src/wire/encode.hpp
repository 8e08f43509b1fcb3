// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/little_endian.hpp"

#include <smd/tensor_view.hpp>

#include <protozero/buffer_string.hpp>
#include <protozero/varint.hpp>

#include <array>
#include <bit>
#include <cstddef>
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
  std::int64_t step = 0;                  ///< Global step.
  std::optional<std::int64_t> mode_step;  ///< Plugin data; omitted if not set.
  std::optional<std::int64_t> mode;       ///< Plugin data; omitted if not set; the numbers of `smd::Mode`.
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

// Event messages that TensorBoard reads.

struct SummaryHeader {
  std::string_view tag;
  double wall_time = 0;
  std::int64_t step = 0;  ///< Global step.
};

/// Content of a HistogramProto: `bucket[i]` counts elements from `bucket_limit[i - 1]` to below `bucket_limit[i]`.
struct HistogramSummary {
  double min = 0, max = 0, num = 0, sum = 0, sum_squares = 0;
  std::vector<double> bucket_limit;
  std::vector<double> bucket;
};

/// Appends an Event with one `simple_value`.
void append_scalar_summary(std::string& out, const SummaryHeader& header, float value);
/// Appends an Event with one `histo`.
void append_histogram_summary(std::string& out, const SummaryHeader& header, const HistogramSummary& histogram);
/// Appends an Event with one string tensor for TensorBoard's text view.
void append_text_summary(std::string& out, const SummaryHeader& header, std::span<const std::string_view> texts);

// Appends protobuf fields to a string. Every field number here is below 16, so a key is one byte.

enum WireType : std::uint32_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };

inline void append_varint(std::string& out, std::uint64_t value) { protozero::add_varint_to_buffer(&out, value); }

inline void append_key(std::string& out, std::uint32_t field, WireType type) {
  out.push_back(static_cast<char>(field << 3 | type));
}

inline void append_length(std::string& out, std::uint32_t field, std::size_t bytes) {
  append_key(out, field, length_delimited);
  append_varint(out, bytes);
}

inline void append_text(std::string& out, std::uint32_t field, std::string_view text) {
  append_length(out, field, text.size());
  out.append(text);
}

/// Returns the size of what `append_length` writes, plus that many bytes.
inline std::size_t field_bytes(std::size_t bytes) noexcept {
  return 1 + static_cast<std::size_t>(protozero::length_of_varint(bytes)) + bytes;
}

template <class Bits>
void append_bits(std::string& out, Bits number) {
  std::array<std::byte, sizeof(Bits)> bytes{};
  store_little(bytes.data(), number);
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

inline void append_double(std::string& out, std::uint32_t field, double number) {
  append_key(out, field, fixed64);
  append_bits(out, std::bit_cast<std::uint64_t>(number));
}

inline void append_float(std::string& out, std::uint32_t field, float number) {
  append_key(out, field, fixed32);
  append_bits(out, std::bit_cast<std::uint32_t>(number));
}

}  // namespace smd::detail::wire
