// SPDX-License-Identifier: Apache-2.0

#include "base/crc32c.hpp"
#include "base/crc32c_instruction.hpp"
#include "wire/framing.hpp"
#include "wire/little_endian.hpp"

#include <array>

namespace smd::detail::wire {

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
    if (!record) {
      return bytes.size() - rest.size();
    }
    rest = rest.subspan(record->payload.size() + frame_bytes);
  }
}

}  // namespace smd::detail::wire
