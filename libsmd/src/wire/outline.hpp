// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "types/outcome.hpp"
#include "wire/event.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Reads large records without loading them: everything but the elements is in their first and last few bytes.
namespace smd::detail::wire {

inline constexpr std::size_t outline_head_bytes = 64 * 1024;  ///< Number of payload bytes to read first.
inline constexpr std::size_t outline_tail_bytes = 64 * 1024;  ///< The most bytes that may follow the elements.

/// The position of the elements in a payload.
struct ContentPlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Looks in the first bytes of a payload for a `tensor_content` that continues past them. Nullopt if there is none, if
/// more than `outline_tail_bytes` follow it, or if the message has an unusual structure; then load the whole payload.
[[nodiscard]] std::optional<ContentPlace> find_content(std::span<const std::byte> head,
                                                       std::uint64_t payload_bytes) noexcept;

/// Parses a payload without its elements, with all checks of `parse_value`; `bytes` of the value stays empty. `head` is
/// the payload up to at least `place.offset`, `tail` all that follows the elements. Nullopt if it is ambiguous to which
/// tensor or value the elements belong; then load the whole payload. The caller must normalise booleans.
Outcome<std::optional<Value>> parse_outline(const ContentPlace& place, std::span<const std::byte> head,
                                            std::span<const std::byte> tail, std::string_view tag,
                                            ValueKinds kinds = ValueKinds::tensors, ValueForm form = {});

/// Returns bytes of a payload: `bytes` of them, from `at` on. Valid until the next call.
using ReadPayload = std::function<Outcome<std::span<const std::byte>>(std::uint64_t at, std::uint64_t bytes)>;

/// Returns an event as TensorBoard's writers store it without what is large in it: images, clips, graphs, and the
/// elements of tensors above 16 MiB. What remains is found by `outline_event` as in the whole payload. Reads only what
/// it keeps. Returns a problem of kind damaged if the payload is not an Event, has groups, or if what remains is above
/// `limits::event_bytes`; problems of `read` unchanged.
[[nodiscard]] Outcome<std::string> event_skeleton(std::uint64_t payload_bytes, const ReadPayload& read);

}  // namespace smd::detail::wire
