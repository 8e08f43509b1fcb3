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

/// The common part of `parse_value` and `parse_outline`. With `outlined`, the payload is a skeleton from which that
/// many bytes of content were removed. Nullopt if the tensor to which they belong is ambiguous.
Outcome<std::optional<Value>> parse_event(std::span<const std::byte> payload, std::string_view tag,
                                          std::optional<std::uint64_t> outlined, ValueKinds kinds, ValueForm form);

/// As `parse_event`, for `ValueKinds::summaries`. @throws protozero::exception, std::bad_alloc
Outcome<std::optional<Value>> parse_summary_value(std::span<const std::byte> payload, std::string_view tag,
                                                  std::optional<std::uint64_t> outlined, ValueForm form);

}  // namespace smd::detail::wire
