// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/little_endian.hpp"
#include "wire/summary.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace smd::detail::wire {

/// Parses an event as every known writer lays down a number: wall time, step (unless 0), a summary of one value, its
/// tag in ASCII, and a `simple_value` or a tensor, in this order and nothing else. Returns false if it has any other
/// form, valid or not, and if memory runs out; `event` is then unspecified. A log holds millions of these.
bool outline_plain_event(std::span<const std::byte> payload, EventOutline& event) noexcept;

/// Such an event with a step and a `simple_value`.
struct PlainNumber {
  double wall_time = 0;
  std::int64_t step = 0;
  std::uint32_t bits = 0;  ///< Of the float.
};

/// What stands between step and number: the same in each event of a tag. Empty if the event has another form.
[[nodiscard]] std::span<const std::byte> between_step_and_number(std::span<const std::byte> payload) noexcept;

/// Parses the event of a tag, given what stands between step and number in others. Returns false if it differs from
/// those in more than its three numbers.
[[nodiscard]] inline bool plain_number(std::span<const std::byte> payload, std::span<const std::byte> between,
                                       PlainNumber& event) noexcept {
  constexpr std::byte wall_time_key{1 << 3 | 1};
  constexpr std::byte step_key{2 << 3};
  constexpr std::size_t step_at = 10;
  constexpr std::size_t step_bytes = 9;  // more are of negative ones
  const std::size_t around = step_at + between.size() + sizeof event.bits;
  if (payload.size() <= around || payload.size() > around + step_bytes || payload[0] != wall_time_key ||
      payload[step_at - 1] != step_key) {
    return false;
  }
  const std::size_t between_at = payload.size() - sizeof event.bits - between.size();
  std::uint64_t step = 0;
  for (std::size_t at = step_at; at < between_at; ++at) {
    const auto byte = std::to_integer<std::uint64_t>(payload[at]);
    if ((byte >= 0x80) != (at + 1 < between_at)) {
      return false;
    }
    step |= (byte & 0x7F) << (7 * (at - step_at));
  }
  if (std::memcmp(payload.data() + between_at, between.data(), between.size()) != 0) {
    return false;
  }
  event.wall_time = std::bit_cast<double>(load_little<std::uint64_t>(payload.subspan(1)));
  event.step = static_cast<std::int64_t>(step);
  event.bits = load_little<std::uint32_t>(payload.last<sizeof event.bits>());
  return true;
}

}  // namespace smd::detail::wire
