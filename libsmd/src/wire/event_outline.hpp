// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "wire/little_endian.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <forward_list>
#include <optional>
#include <span>
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

/// Parses an event in the form in which every known writer stores a number: wall time, step (unless 0), a summary of
/// one value, its tag in ASCII, and a `simple_value` or a tensor, in this order and nothing else. Returns false if the
/// event has any other form, valid or not, or if memory runs out; `event` is then unspecified. A log holds millions of
/// these.
bool outline_plain_event(std::span<const std::byte> payload, EventOutline& event) noexcept;

/// Such an event with a step and a `simple_value`.
struct PlainNumber {
  double wall_time = 0;
  std::int64_t step = 0;
  std::uint32_t bits = 0;  ///< Of the float.
};

/// Returns the bytes between step and number, which are equal in all events of a tag. Empty if the event has another
/// form.
[[nodiscard]] std::span<const std::byte> between_step_and_number(std::span<const std::byte> payload) noexcept;

/// Returns whether `size` bytes are equal. Optimised for a few more than eight bytes.
[[nodiscard, gnu::always_inline]] inline bool same_bytes(const std::byte* a, const std::byte* b,
                                                         std::size_t size) noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  const auto differ = [&](std::size_t at) {
    return load_little<std::uint64_t>({a + at, word}) != load_little<std::uint64_t>({b + at, word});
  };
  if (size < word) {
    return std::memcmp(a, b, size) == 0;
  }
  for (std::size_t at = 0; at + word <= size; at += word) {
    if (differ(at)) {
      return false;
    }
  }
  return !differ(size - word);
}

/// Decodes a varint of exactly `bytes`. Returns false if it ends before or after them. @pre `bytes` has 1 to 9 bytes,
/// and 8 bytes from its start are readable
[[nodiscard, gnu::always_inline]] inline bool whole_varint(std::span<const std::byte> bytes,
                                                           std::uint64_t& number) noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  constexpr std::uint64_t more = 0x8080808080808080;
  const std::uint64_t low = load_little<std::uint64_t>({bytes.data(), word});
  const bool longer = bytes.size() > word;
  const std::uint64_t all = longer ? ~std::uint64_t{0} : ~std::uint64_t{0} >> (64 - 8 * bytes.size());
  if ((low & more & all) != (longer ? more : more & (all >> 8)) ||
      (longer && std::to_integer<unsigned>(bytes[word]) >= 0x80)) {
    return false;
  }
  number = low & all & ~more;
  number = ((number & 0x7F007F007F007F00) >> 1) | (number & 0x007F007F007F007F);
  number = ((number & 0xFFFF0000FFFF0000) >> 2) | (number & 0x0000FFFF0000FFFF);
  number = ((number & 0xFFFFFFFF00000000) >> 4) | (number & 0x00000000FFFFFFFF);
  number |= longer ? std::to_integer<std::uint64_t>(bytes[word]) << 56 : 0;
  return true;
}

/// Keys: field number times 8, plus the wire type.
inline constexpr std::byte wall_time_key{1 << 3 | 1};
inline constexpr std::byte step_key{2 << 3};

/// Parses an event of a tag. `between`: `between_step_and_number` of other events of the tag. Returns false if the
/// event differs from these in more than its three numbers.
[[nodiscard, gnu::always_inline]] inline bool plain_number(std::span<const std::byte> payload,
                                                           std::span<const std::byte> between,
                                                           PlainNumber& event) noexcept {
  constexpr std::size_t step_at = 10;
  constexpr std::size_t step_bytes = 9;  // negative steps have more
  const std::size_t around = step_at + between.size() + sizeof event.bits;
  if (payload.size() <= around || payload.size() > around + step_bytes ||
      payload.size() < step_at + sizeof(std::uint64_t) || payload[0] != wall_time_key ||
      payload[step_at - 1] != step_key) {
    return false;
  }
  const std::size_t between_at = payload.size() - sizeof event.bits - between.size();
  std::uint64_t step = 0;
  if (!whole_varint(payload.subspan(step_at, between_at - step_at), step) ||
      !same_bytes(payload.data() + between_at, between.data(), between.size())) {
    return false;
  }
  event.wall_time = std::bit_cast<double>(load_little<std::uint64_t>(payload.subspan(1)));
  event.step = static_cast<std::int64_t>(step);
  event.bits = load_little<std::uint32_t>(payload.last<sizeof event.bits>());
  return true;
}

}  // namespace smd::detail::wire
