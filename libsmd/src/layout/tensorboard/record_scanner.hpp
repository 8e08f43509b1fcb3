// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "wire/framing.hpp"
#include "wire/little_endian.hpp"

#include <smd/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace smd::detail::layout {

class ReadAhead;

/// Reads the records of one file from front to back, in blocks, and verifies both checksums of each: the magic value
/// (`wire::magic_footer`) is a wrong one, because writers of logs never write it. Takes the memory of a few blocks, or
/// of a long histogram.
class RecordScanner {
 public:
  enum class Found : std::uint8_t {
    record,      ///< `payload` is that of a sound record; of one above 1 MiB, without large contents.
    damaged,     ///< `length` bytes are no sound record; what follows may be one. See `problem`.
    lost,        ///< As `damaged`, and no sound record follows: nothing more of the file can be read. See `problem`.
    compressed,  ///< The file is not one of records, but may be one that is compressed. See `problem`.
    cut,         ///< The file ends within the record. See `problem`, which is damage unless more will come.
    end,         ///< The file ends after the previous record.
    failed,      ///< Reading failed. See `problem`.
  };

  /// Reads from `offset`, where a record begins, up to the size of the file when it was opened. `file` must outlive
  /// this. `jobs`: with more than one, a second thread reads a long file ahead.
  RecordScanner(const storage::File& file, std::uint64_t offset, bool remote, unsigned jobs = 1);
  ~RecordScanner();

  /// Advances to the next record.
  Found next() {
    begin_ += length_;
    offset_ += length_;
    length_ = 0;
    if (begin_ < sound_end_) {
      take_sound_record();
      return Found::record;
    }
    return find_record();
  }

  [[nodiscard]] std::span<const std::byte> payload() const noexcept { return payload_; }  ///< Valid until `next`.
  /// Returns where the record begins; after `cut`, `lost` and `compressed`, where it would begin.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  /// Returns the length of the record, including its frame.
  [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
  /// Returns records that follow the current one: all are whole and sound. Valid until `next`.
  [[nodiscard]] std::span<const std::byte> sound_records() noexcept {
    const std::uint64_t begin = begin_ + length_;
    if (begin >= sound_end_) {
      look_ahead(begin);
    }
    return begin < sound_end_ ? std::span(data_ + begin, sound_end_ - begin) : std::span<const std::byte>();
  }
  /// Advances past that many bytes of `sound_records()`, which end with a record.
  void skip(std::uint64_t bytes) noexcept {
    begin_ += length_ + bytes;
    offset_ += length_ + bytes;
    length_ = 0;
  }
  /// Returns whether bytes were passed over that will be a record once the file is longer.
  [[nodiscard]] bool uncertain() const noexcept { return uncertain_; }
  /// Returns the problem, without the file's name; its offset is the record's.
  [[nodiscard]] Problem& problem() noexcept { return problem_; }

 private:
  [[nodiscard]] std::uint64_t left() const noexcept { return size_ - offset_; }
  /// Takes the next record. @pre begin_ < sound_end_
  void take_sound_record() noexcept {
    const std::byte* const record = data_ + begin_;
    const auto payload_bytes = wire::load_little<std::uint64_t>(std::span(record, sizeof(std::uint64_t)));
    payload_ = {record + wire::header_bytes, payload_bytes};
    length_ = payload_bytes + wire::frame_bytes;
  }
  void look_ahead(std::uint64_t begin) noexcept;
  Found find_record();
  Found take_large(std::uint64_t payload_bytes);
  Found pass_over(const std::string& why);
  [[nodiscard]] Outcome<std::optional<std::uint64_t>> next_sound_record();
  [[nodiscard]] Outcome<bool> is_sound(std::uint64_t payload, std::uint64_t bytes) const;
  Status read_all(std::uint64_t from, std::span<std::byte> into) const;
  /// Loads at least `bytes` of the record; returns false if reading failed. Precondition: the file has them.
  bool have(std::uint64_t bytes);
  /// The same from the next block that was read ahead. Returns false if it does not suffice.
  bool have_ahead(std::uint64_t bytes);
  Found tell(Found found, std::string text);
  /// Takes the problem of a part of the record.
  Found fail(Problem problem);

  const storage::File& file_;
  std::uint64_t size_;
  std::uint64_t block_;
  bool remote_;
  std::unique_ptr<ReadAhead> ahead_;
  std::unique_ptr<std::byte[]> buffer_;  ///< Not while a thread reads ahead.
  std::uint64_t capacity_ = 0;
  const std::byte* data_ = nullptr;  ///< The buffer, or a block with its margin.
  std::uint64_t begin_ = 0;          ///< Where the unread bytes begin in `data_`: those from `offset_` on.
  std::uint64_t end_ = 0;
  std::uint64_t sound_end_ = 0;  ///< Where the records end that are known to be sound, if after `begin_`.
  std::uint64_t offset_;
  std::uint64_t length_ = 0;
  std::span<const std::byte> payload_;
  std::string skeleton_;       ///< The payload of a large record.
  std::uint64_t refuted_ = 0;  ///< Length of the payloads that were read in search of a sound record, and are not.
  bool uncertain_ = false;
  Problem problem_;
};

}  // namespace smd::detail::layout
