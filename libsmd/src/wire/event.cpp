// SPDX-License-Identifier: Apache-2.0
#include "wire/event.hpp"

#include <cstring>

namespace smd::detail::wire {

Outcome<Value> parse_value(std::span<const std::byte> payload, std::string_view tag, ValueKinds kinds, ValueForm form) {
  Outcome<std::optional<Value>> value = parse_event(payload, tag, {}, kinds, form);
  // The value is always set, except for outlines.
  return value ? Outcome<Value>(std::move(**value)) : Outcome<Value>(std::move(value.problem()));
}

std::span<std::byte> Value::own(std::uint64_t size) {
  owned = std::make_shared_for_overwrite<std::byte[]>(size);
  bytes = {owned.get(), static_cast<std::size_t>(size)};
  return {owned.get(), bytes.size()};
}

void fill_repeated(std::span<std::byte> into, std::span<const std::byte> element) noexcept {
  for (std::size_t at = 0; at < into.size(); at += element.size()) {
    std::memcpy(into.data() + at, element.data(), element.size());
  }
}

bool is_normal_boolean(std::span<const std::byte> bytes) noexcept {
  std::byte all{0};
  for (const std::byte b : bytes) {
    all |= b;
  }
  return (all & std::byte{0xFE}) == std::byte{0};
}

void normalise_boolean(std::span<std::byte> bytes) noexcept {
  for (std::byte& b : bytes) {
    b = static_cast<std::byte>(b != std::byte{0});
  }
}

}  // namespace smd::detail::wire
