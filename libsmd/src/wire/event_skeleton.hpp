// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace smd::detail::wire {

/// Returns bytes of a payload: `bytes` of them, from `at` on. Valid until the next call.
using ReadPayload = std::function<Outcome<std::span<const std::byte>>(std::uint64_t at, std::uint64_t bytes)>;

/// Returns an event as TensorBoard's writers store it without what is large in it: images, clips, graphs, and the
/// elements of tensors above 16 MiB. What remains is found by `outline_event` as in the whole payload. Reads only what
/// it keeps. Returns a problem of kind damaged if the payload is not an Event, has groups, or if what remains is above
/// `limits::event_bytes`; problems of `read` unchanged.
[[nodiscard]] Outcome<std::string> event_skeleton(std::uint64_t payload_bytes, const ReadPayload& read);

}  // namespace smd::detail::wire
