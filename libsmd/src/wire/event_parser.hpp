// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "wire/event.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace smd::detail::wire {

/// What `parse_value` and `parse_outline` have in common. With `outlined`, the payload is a skeleton from which that
/// many bytes of content were taken out; nothing then, if it is not plain to which tensor they belong.
Outcome<std::optional<Value>> parse_event(std::span<const std::byte> payload, std::string_view tag,
                                          std::optional<std::uint64_t> outlined);

}  // namespace smd::detail::wire
