// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "types/outcome.hpp"

/// What stands in event files: records, and the protobuf messages within them. Knows no files and no paths: problems
/// leave the file's name to the caller.
namespace smd::detail::wire {

inline constexpr std::size_t header_bytes = 12;             ///< Payload length and the checksum of it.
inline constexpr std::size_t footer_bytes = 4;              ///< Checksum of the payload, or the magic value.
inline constexpr std::size_t frame_bytes = 16;              ///< What a record is longer than its payload.
inline constexpr std::uint32_t magic_footer = 0x062DC0B3u;  ///< Masked CRC of the text `0x12345678`.

/// How a record's payload is guarded against flipped bits.
enum class Protection : std::uint8_t {
  unprotected,  ///< The footer is the magic value.
  checksum,     ///< The footer is the payload's checksum, and right.
};

/// Length of the payload that a record's first 12 bytes announce, at most `limits::record_bytes`; its checksum is
/// right. Whether that many bytes are there is for the caller to see. Offsets of problems count from the record.
Outcome<std::uint64_t> parse_header(std::span<const std::byte> header);

/// True if the footer is the magic value, so that the payload's checksum need not be computed.
[[nodiscard]] bool is_magic_footer(std::span<const std::byte, footer_bytes> footer) noexcept;

/// Checks a footer; computes the payload's checksum only if it is not the magic value.
Outcome<Protection> check_footer(std::span<const std::byte, footer_bytes> footer, std::span<const std::byte> payload);

/// The same for a payload read in blocks: `payload_crc` is its plain (not masked) CRC-32C.
Outcome<Protection> check_footer_crc(std::span<const std::byte, footer_bytes> footer, std::uint32_t payload_crc,
                                     std::uint64_t payload_bytes);

struct Frame {
  std::span<const std::byte> payload;  ///< Borrows the bytes that were parsed.
  Protection protection = Protection::unprotected;
};

/// The one record that fills `range` exactly, as an index file names it. Any other range is damaged.
Outcome<Frame> parse_record(std::span<const std::byte> range);

/// The record at the start of `rest`, for reading a file from front to back. If `rest` ends too early, though as far
/// as it goes all is well, the problem's kind is `not_yet`: only the caller knows whether more will come.
Outcome<Frame> next_record(std::span<const std::byte> rest);

/// Appends a record: with the magic footer, or with the payload's true checksum.
void append_record(std::string& out, std::span<const std::byte> payload, Protection protection);

/// Makes a record of a payload that already stands in `out`, from `start` + `header_bytes` to its end: fills the header
/// in, of which the bytes are there, and appends the footer. Saves copying the payload.
void frame_in_place(std::string& out, std::size_t start, Protection protection);

/// The same of a payload in three pieces, which are not brought together: `front`, from `header_bytes` on, `middle`,
/// and `back`, which gets the footer.
void frame_around(std::string& front, std::span<const std::byte> middle, std::string& back, Protection protection);

}  // namespace smd::detail::wire
