// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "types/outcome.hpp"

/// The contents of event files: records, and the protobuf messages in them. This code knows no files or paths: the
/// caller adds the file's name to problems.
namespace smd::detail::wire {

inline constexpr std::size_t header_bytes = 12;             ///< Payload length and its checksum.
inline constexpr std::size_t footer_bytes = 4;              ///< Checksum of the payload, or the magic value.
inline constexpr std::size_t frame_bytes = 16;              ///< How much longer a record is than its payload.
inline constexpr std::uint32_t magic_footer = 0x062DC0B3u;  ///< Masked CRC of the text `0x12345678`.

/// How a record's payload is protected against bit errors.
enum class Protection : std::uint8_t {
  unprotected,  ///< The footer is the magic value.
  checksum,     ///< The footer is the payload's checksum, and it is correct.
};

/// Returns the payload length in a record's first 12 bytes, at most `limits::record_bytes`, if its checksum is
/// correct. Does not check whether that many bytes follow. Offsets of problems count from the start of the record.
Outcome<std::uint64_t> parse_header(std::span<const std::byte> header);

/// Returns true if the footer is the magic value, in which case the payload's checksum need not be computed.
[[nodiscard]] bool is_magic_footer(std::span<const std::byte, footer_bytes> footer) noexcept;

/// Checks a footer; computes the payload's checksum only if it is not the magic value.
Outcome<Protection> check_footer(std::span<const std::byte, footer_bytes> footer, std::span<const std::byte> payload);

/// As above, for a payload read in blocks: `payload_crc` is its plain (unmasked) CRC-32C.
Outcome<Protection> check_footer_crc(std::span<const std::byte, footer_bytes> footer, std::uint32_t payload_crc,
                                     std::uint64_t payload_bytes);

struct Frame {
  std::span<const std::byte> payload;  ///< Borrows the bytes that were parsed.
  Protection protection = Protection::unprotected;
};

/// Returns the record at the start of `rest`, for reading a file from front to back. If `rest` ends inside a record
/// that is valid so far, the problem's kind is `not_yet`: only the caller knows whether more will come.
Outcome<Frame> next_record(std::span<const std::byte> rest);

/// Returns the length of the records at the beginning of `bytes` that are whole and short, and whose checksums are
/// right. It may be less, also 0, for no reason: it is for files of millions of records, and ends at the first one that
/// takes more than a few comparisons.
[[nodiscard]] std::size_t short_sound_records(std::span<const std::byte> bytes) noexcept;

/// Returns the length of the records at the beginning of `bytes` that are whole, of any length, and whose checksums are
/// right.
[[nodiscard]] std::size_t sound_records(std::span<const std::byte> bytes);

/// Appends a record, with the magic footer or with the payload's checksum.
void append_record(std::string& out, std::span<const std::byte> payload, Protection protection);

/// Makes a record of a payload that is already in `out`, from `start` + `header_bytes` to the end: fills in the
/// header, whose bytes are reserved, and appends the footer. Avoids copying the payload.
void frame_in_place(std::string& out, std::size_t start, Protection protection);

/// As above, for a payload that is written in pieces: `store_header` fills in the `header_bytes` at `start`,
/// `append_footer` appends the footer of a payload with that plain CRC-32C.
void store_header(std::string& record, std::uint64_t payload_bytes, std::size_t start = 0);
void append_footer(std::string& out, std::uint32_t payload_crc, Protection protection);

}  // namespace smd::detail::wire
