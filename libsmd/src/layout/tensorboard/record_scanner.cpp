// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/record_scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace smd::detail::layout {

namespace {

constexpr std::uint64_t local_block = std::uint64_t{256} << 10;  // fits the L2 cache, for computing checksums
constexpr std::uint64_t remote_block = std::uint64_t{4} << 20;   // each costs a request

}  // namespace

RecordScanner::RecordScanner(const storage::File& file, std::uint64_t offset, bool remote)
    : file_(file), size_(file.size()), block_(remote ? remote_block : local_block), offset_(std::min(offset, size_)) {}

RecordScanner::Found RecordScanner::tell(Found found, std::string text) {
  problem_ = {found == Found::failed ? ProblemKind::io : ProblemKind::damaged, {}, offset_, std::move(text)};
  return found;
}

bool RecordScanner::have(std::uint64_t bytes) {
  if (end_ - begin_ >= bytes) {
    return true;
  }
  const std::uint64_t wanted = std::max(bytes, std::min(block_, left()));
  if (wanted > capacity_) {
    std::unique_ptr<std::byte[]> larger(new (std::nothrow) std::byte[wanted]);
    if (larger == nullptr) {
      (void)tell(Found::failed, fmt::format("there is no memory for a record of {} bytes", bytes));
      return false;
    }
    std::copy_n(buffer_.get() + begin_, end_ - begin_, larger.get());
    buffer_ = std::move(larger);
    capacity_ = wanted;
  } else {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
  }
  end_ -= begin_;
  begin_ = 0;
  const std::uint64_t more = std::min(capacity_, left()) - end_;
  auto read = file_.read_at(offset_ + end_, {buffer_.get() + end_, more});
  if (!read) {
    problem_ = std::move(read.problem());
    problem_.offset = offset_;
    return false;
  }
  end_ += *read;
  if (end_ < bytes) {
    (void)tell(Found::failed, "the file became shorter while it was read");
    return false;
  }
  return true;
}

const RecordScanner::LengthChecksums& RecordScanner::length_checksums() noexcept {
  static const LengthChecksums checksums = [] {
    LengthChecksums all{};
    for (std::uint64_t length = 0; length < all.size(); ++length) {
      std::array<std::byte, sizeof length> bytes{};
      wire::store_little(bytes.data(), length);
      all[length] = mask_crc(crc32c(bytes));
    }
    return all;
  }();
  return checksums;
}

RecordScanner::Found RecordScanner::find_record() {
  if (left() == 0) {
    return Found::end;
  }
  if (left() < wire::header_bytes) {
    return tell(Found::cut, fmt::format("the last record is cut short after {} bytes", left()));
  }
  if (!have(wire::header_bytes)) {
    return Found::failed;
  }
  const auto payload_bytes = wire::parse_header({buffer_.get() + begin_, wire::header_bytes});
  if (!payload_bytes) {
    return tell(Found::lost, fmt::format("{}: the {} bytes from there on cannot be read; if the file was copied, copy "
                                         "it again",
                                         payload_bytes.problem().text, left()));
  }
  const std::uint64_t length = *payload_bytes + wire::frame_bytes;
  if (length > left()) {
    return tell(Found::cut, fmt::format("the last record is cut short: {} of {} bytes are there", left(), length));
  }
  if (!have(length)) {
    return Found::failed;
  }
  length_ = length;
  const std::span<const std::byte> record(buffer_.get() + begin_, length);
  payload_ = record.subspan(wire::header_bytes, *payload_bytes);
  const auto checked = wire::check_footer(record.last<wire::footer_bytes>(), payload_);
  return checked ? Found::record
                 : tell(Found::damaged,
                        "the record's checksum is wrong: its values are left out; if the file was "
                        "copied, copy it again");
}

}  // namespace smd::detail::layout
