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

/// Reads the records of one file from front to back, in blocks; both checksums of each are verified. Memory: a block,
/// or the longest record.
class RecordScanner {
 public:
  enum class Found : std::uint8_t {
    record,   ///< `payload` is a sound record's.
    damaged,  ///< That record's payload is not what was written; the next one may be sound. See `problem`.
    lost,     ///< Where the next record begins is unknown: nothing more of the file can be read. See `problem`.
    cut,      ///< The file ends within the record. See `problem`, which is damage unless more will come.
    end,      ///< The file ends with the record before.
    failed,   ///< Reading failed. See `problem`.
  };

  /// From `offset` on, where a record begins, to the end of the file as it was opened. `file` must outlive this.
  RecordScanner(const storage::File& file, std::uint64_t offset, bool remote);

  /// Goes on to the next record.
  Found next() {
    begin_ += length_;
    offset_ += length_;
    length_ = 0;
    return take_short_record() ? Found::record : find_record();
  }

  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }  ///< Until the next call.
  /// Where the record begins, and with its frame how long it is; after `cut` and `lost` where it would begin.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
  /// Without the file's name; its offset is the record's.
  [[nodiscard]] Problem& problem() noexcept { return problem_; }

 private:
  /// Checksums of the lengths that are below 256: most records are so short.
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
  /// Makes at least `bytes` of the record available; false if reading failed. Precondition: the file has them.
  bool have(std::uint64_t bytes);
  Found tell(Found found, std::string text);

  const LengthChecksums& checksums_ = length_checksums();
  const storage::File& file_;
  std::uint64_t size_;
  std::uint64_t block_;
  std::unique_ptr<std::byte[]> buffer_;
  std::uint64_t capacity_ = 0;
  std::uint64_t begin_ = 0;  ///< Of the unread bytes in the buffer, which are those from `offset_` on.
  std::uint64_t end_ = 0;
  std::uint64_t offset_;
  std::uint64_t length_ = 0;
  std::span<const std::byte> payload_;
  Problem problem_;
};

}  // namespace smd::detail::layout
