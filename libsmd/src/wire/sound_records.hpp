// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace smd::detail::wire {

/// Returns the length of the records at the beginning of `bytes` that are whole and short, and whose checksums are
/// right. It may be less, also 0, for no reason: it is for files of millions of records, and ends at the first one that
/// takes more than a few comparisons.
[[nodiscard]] std::size_t short_sound_records(std::span<const std::byte> bytes) noexcept;

/// Returns the length of the records at the beginning of `bytes` that are whole, of any length, and whose checksums are
/// right.
[[nodiscard]] std::size_t sound_records(std::span<const std::byte> bytes);

}  // namespace smd::detail::wire
