// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/crc32c.hpp"
#include "storage/storage.hpp"
#include "wire/framing.hpp"
#include "wire/little_endian.hpp"

#include <smd/problem.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace smd::detail::layout {

/// Reads the records of one file from front to back, in blocks, and verifies both checksums of each. Takes the memory
/// of a block or of the longest record.
class RecordScanner {
 public:
  enum class Found : std::uint8_t {
    record,   ///< `payload` is that of a sound record.
    damaged,  ///< The checksum of the payload is wrong; the next record may be sound. See `problem`.
    lost,     ///< The length of the record is damaged: nothing more of the file can be read. See `problem`.
    cut,      ///< The file ends within the record. See `problem`, which is damage unless more will come.
    end,      ///< The file ends after the previous record.
    failed,   ///< Reading failed. See `problem`.
  };

  /// Reads from `offset`, where a record begins, up to the size of the file when it was opened. `file` must outlive
  /// this.
  RecordScanner(const storage::File& file, std::uint64_t offset, bool remote);

  /// Advances to the next record.
  Found next() {
    begin_ += length_;
    offset_ += length_;
    length_ = 0;
    return take_short_record() ? Found::record : find_record();
  }

  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }  ///< Valid until `next`.
  /// Returns where the record begins; after `cut` and `lost`, where it would begin.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  /// Returns the length of the record, including its frame.
  [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
  /// Returns the problem, without the file's name; its offset is the record's.
  [[nodiscard]] Problem& problem() noexcept { return problem_; }

 private:
  /// Checksums of the lengths below 256, as most records have.
  using LengthChecksums = std::array<std::uint32_t, 256>;
  [[nodiscard]] static const LengthChecksums& length_checksums() noexcept;

  [[nodiscard]] std::uint64_t left() const noexcept { return size_ - offset_; }
  /// Takes the next record if it is sound, short and in the buffer.
  bool take_short_record() noexcept {
    if (end_ - begin_ < wire::frame_bytes) {
      return false;
    }
    const std::span<const std::byte> there(buffer_.get() + begin_, end_ - begin_);
    const auto payload_bytes = wire::load_little<std::uint64_t>(there);
    if (payload_bytes >= checksums_.size() ||
        wire::load_little<std::uint32_t>(there.subspan(sizeof payload_bytes)) != checksums_[payload_bytes] ||
        payload_bytes + wire::frame_bytes > there.size()) {
      return false;
    }
    payload_ = there.subspan(wire::header_bytes, payload_bytes);
    if (wire::load_little<std::uint32_t>(there.subspan(wire::header_bytes + payload_bytes)) !=
        mask_crc(crc32c(payload_))) {
      return false;
    }
    length_ = payload_bytes + wire::frame_bytes;
    return true;
  }
  Found find_record();
  /// Loads at least `bytes` of the record; returns false if reading failed. Precondition: the file has them.
  bool have(std::uint64_t bytes);
  Found tell(Found found, std::string text);

  const LengthChecksums& checksums_ = length_checksums();
  const storage::File& file_;
  std::uint64_t size_;
  std::uint64_t block_;
  std::unique_ptr<std::byte[]> buffer_;
  std::uint64_t capacity_ = 0;
  std::uint64_t begin_ = 0;  ///< Where the unread bytes begin in the buffer: those from `offset_` on.
  std::uint64_t end_ = 0;
  std::uint64_t offset_;
  std::uint64_t length_ = 0;
  std::span<const std::byte> payload_;
  Problem problem_;
};

}  // namespace smd::detail::layout
