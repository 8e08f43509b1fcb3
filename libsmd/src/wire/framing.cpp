// SPDX-License-Identifier: Apache-2.0
#include "wire/framing.hpp"

#include "base/crc32c.hpp"
#include "base/crc32c_instruction.hpp"
#include "text/limits.hpp"
#include "wire/little_endian.hpp"

#include <fmt/format.h>

#include <array>

namespace smd::detail::wire {

namespace {

Problem cut_off(std::uint64_t needed, std::size_t there) {
  return make_problem(ProblemKind::not_yet, fmt::format("record of {} bytes is cut off after {}", needed, there));
}

void append_bytes(std::string& out, std::span<const std::byte> bytes) {
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

Outcome<std::uint64_t> parse_header(std::span<const std::byte> header) {
  if (header.size() < header_bytes) {
    return damaged(fmt::format("{} bytes are too few for a record", header.size()), 0);
  }
  const auto length = load_little<std::uint64_t>(header);
  if (mask_crc(crc32c(header.first(8))) != load_little<std::uint32_t>(header.subspan(8))) {
    return damaged("checksum of the record's length is wrong", 8);
  }
  if (length > limits::record_bytes) {
    return damaged(fmt::format("record claims {} bytes; the limit (record_bytes) is {}", length, limits::record_bytes),
                   0);
  }
  return length;
}

bool is_magic_footer(std::span<const std::byte, footer_bytes> footer) noexcept {
  return load_little<std::uint32_t>(footer) == magic_footer;
}

Outcome<Protection> check_footer(std::span<const std::byte, footer_bytes> footer, std::span<const std::byte> payload) {
  return check_footer_crc(footer, is_magic_footer(footer) ? 0 : crc32c(payload), payload.size());
}

Outcome<Protection> check_footer_crc(std::span<const std::byte, footer_bytes> footer, std::uint32_t payload_crc,
                                     std::uint64_t payload_bytes) {
  if (is_magic_footer(footer)) {
    return Protection::unprotected;
  }
  if (load_little<std::uint32_t>(footer) != mask_crc(payload_crc)) {
    return damaged("footer is neither the magic value nor the payload's checksum", header_bytes + payload_bytes);
  }
  return Protection::checksum;
}

Outcome<Frame> next_record(std::span<const std::byte> rest) {
  if (rest.size() < header_bytes) {
    return cut_off(frame_bytes, rest.size());
  }
  auto length = parse_header(rest);
  if (!length) {
    return std::move(length.problem());
  }
  if (*length + frame_bytes > rest.size()) {
    return cut_off(*length + frame_bytes, rest.size());
  }
  const auto payload = rest.subspan(header_bytes, *length);
  auto protection = check_footer(rest.subspan(header_bytes + *length).first<footer_bytes>(), payload);
  return protection ? Outcome(Frame{payload, *protection}) : std::move(protection.problem());
}

void append_record(std::string& out, std::span<const std::byte> payload, Protection protection) {
  const std::size_t start = out.size();
  out.reserve(out.size() + payload.size() + frame_bytes);
  out.append(header_bytes, '\0');
  append_bytes(out, payload);
  frame_in_place(out, start, protection);
}

void frame_in_place(std::string& out, std::size_t start, Protection protection) {
  const std::span<const std::byte> payload = std::as_bytes(std::span(out)).subspan(start + header_bytes);
  store_header(out, payload.size(), start);
  append_footer(out, protection == Protection::checksum ? crc32c(payload) : 0, protection);
}

void store_header(std::string& record, std::uint64_t payload_bytes, std::size_t start) {
  std::byte* const header = reinterpret_cast<std::byte*>(record.data()) + start;
  store_little<std::uint64_t>(header, payload_bytes);
  store_little<std::uint32_t>(header + 8, mask_crc(crc32c(std::span<const std::byte>(header, 8))));
}

void append_footer(std::string& out, std::uint32_t payload_crc, Protection protection) {
  std::array<std::byte, footer_bytes> footer{};
  store_little<std::uint32_t>(footer.data(), protection == Protection::checksum ? mask_crc(payload_crc) : magic_footer);
  append_bytes(out, footer);
}

#if defined(SMD_TARGET_CRC)

namespace {

/// Masked checksums of the lengths below 256, as most records have.
using LengthChecksums = std::array<std::uint32_t, 256>;

const LengthChecksums& length_checksums() noexcept {
  static const LengthChecksums checksums = [] {
    LengthChecksums all{};
    for (std::uint64_t length = 0; length < all.size(); ++length) {
      std::array<std::byte, sizeof length> bytes{};
      store_little(bytes.data(), length);
      all[length] = mask_crc(crc32c(bytes));
    }
    return all;
  }();
  return checksums;
}

SMD_TARGET_CRC std::size_t find_end(const std::byte* data, std::size_t size,
                                    const LengthChecksums& checksums) noexcept {
  std::size_t end = 0;
  while (size - end >= frame_bytes) {
    const std::byte* const record = data + end;
    const auto payload_bytes = load_little<std::uint64_t>(std::span<const std::byte, 8>(record, 8));
    if (payload_bytes >= checksums.size() || payload_bytes > size - end - frame_bytes) {
      break;
    }
    const std::byte* const payload = record + header_bytes;
    const std::uint32_t crc =
        ~crc32c_in_steps(~std::uint32_t{0}, reinterpret_cast<const unsigned char*>(payload), payload_bytes);
    if (load_little<std::uint32_t>(std::span<const std::byte, 4>(record + sizeof payload_bytes, 4)) !=
            checksums[payload_bytes] ||
        load_little<std::uint32_t>(std::span<const std::byte, 4>(payload + payload_bytes, 4)) != mask_crc(crc)) {
      break;
    }
    end += payload_bytes + frame_bytes;
  }
  return end;
}

}  // namespace

std::size_t short_sound_records(std::span<const std::byte> bytes) noexcept {
  static const bool usable = has_crc_instruction();
  return usable ? find_end(bytes.data(), bytes.size(), length_checksums()) : 0;
}

#else

std::size_t short_sound_records(std::span<const std::byte>) noexcept { return 0; }

#endif

std::size_t sound_records(std::span<const std::byte> bytes) {
  std::span<const std::byte> rest = bytes;
  while (true) {
    rest = rest.subspan(short_sound_records(rest));
    const auto record = next_record(rest);
    if (!record || record->protection == Protection::unprotected) {
      return bytes.size() - rest.size();
    }
    rest = rest.subspan(record->payload.size() + frame_bytes);
  }
}

}  // namespace smd::detail::wire
