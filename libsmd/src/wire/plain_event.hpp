// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wire/summary.hpp"

#include <cstddef>
#include <span>

namespace smd::detail::wire {

/// Parses an event as every known writer lays down a number: wall time, step (unless 0), a summary of one value, its
/// tag in ASCII, and a `simple_value` or a tensor, in this order and nothing else. Returns false if it has any other
/// form, valid or not, and if memory runs out; `event` is then unspecified. A log holds millions of these.
bool outline_plain_event(std::span<const std::byte> payload, EventOutline& event) noexcept;

}  // namespace smd::detail::wire
