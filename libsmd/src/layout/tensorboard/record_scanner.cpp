// SPDX-License-Identifier: Apache-2.0
#include "layout/tensorboard/record_scanner.hpp"

#include "base/crc32c.hpp"
#include "text/limits.hpp"
#include "wire/first_bytes.hpp"
#include "wire/outline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace smd::detail::layout {

namespace {

constexpr std::uint64_t local_block = std::uint64_t{256} << 10;  // fits the L2 cache, for computing checksums
constexpr std::uint64_t whole_record = std::uint64_t{1} << 20;   // larger ones are passed over in blocks
constexpr std::uint64_t worth_a_thread = std::uint64_t{4} << 20;
constexpr std::uint64_t looked_ahead = std::uint64_t{16} << 10;  // is still in the L1 cache when it is parsed
constexpr std::uint64_t remote_block = std::uint64_t{4} << 20;   // each costs a request

constexpr const char* wrong_checksum =
    "the record's checksum is wrong: its values are left out; if the file was copied, copy it again";

}  // namespace

/// Reads a file of records from front to back in a thread of its own, a few blocks ahead of the thread that uses them,
/// and verifies their checksums up to the first record that is damaged or much longer than others. Benchmark:
/// measurements.py, `smd-ls, 1 tag x 1,000,000 steps`.
class ReadAhead {
 public:
  struct Block {
    std::span<std::byte> bytes;  ///< Empty at the end, and if reading failed.
    /// As many bytes before `bytes` are the end of the block before; a record begins there, unless `sound` is 0.
    std::size_t joined = 0;
    std::size_t sound = 0;  ///< Length of the records from there on that are known to be whole and sound.
  };

  /// Bytes before each block that its user may overwrite, to join a block with the end of the one before.
  static constexpr std::size_t margin_bytes = std::size_t{16} << 10;
  static constexpr std::size_t block_bytes = std::size_t{256} << 10;

  /// Reads from `offset`, where a record begins, up to `end`. `file` must outlive this.
  /// @throws std::system_error, std::bad_alloc
  ReadAhead(const storage::File& file, std::uint64_t offset, std::uint64_t end)
      : file_(file), offset_(offset), end_(end) {
    for (auto& memory : memory_) {
      memory = std::make_unique_for_overwrite<std::byte[]>(margin_bytes + block_bytes);
    }
    thread_ = std::thread([this] { read(); });
  }
  ~ReadAhead() {
    {
      const std::lock_guard lock(mutex_);
      unwanted_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  /// Waits for the next block. Valid, with its margin, until the call after the next.
  [[nodiscard]] Block next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return read_ > taken_ || ended_; });
    if (read_ == taken_) {
      return {};
    }
    const Block block = blocks_[taken_ % blocks_.size()];
    ++taken_;
    changed_.notify_all();
    return block;
  }

 private:
  void read() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      constexpr std::size_t in_use = 2;
      changed_.wait(lock, [this] { return unwanted_ || read_ + in_use < taken_ + blocks_.size(); });
      if (unwanted_) {
        return;
      }
      Block& block = blocks_[read_ % blocks_.size()];
      std::byte* const memory = memory_[read_ % blocks_.size()].get() + margin_bytes;
      lock.unlock();
      const std::size_t wanted = std::min<std::uint64_t>(block_bytes, end_ - offset_);
      const auto got = file_.read_at(offset_, {memory, wanted});
      block = {{memory, got ? *got : 0}};
      verify(block);
      offset_ += block.bytes.size();
      lock.lock();
      read_ += block.bytes.empty() ? 0 : 1;
      ended_ = block.bytes.size() < wanted || offset_ == end_;
      changed_.notify_all();
    }
  }

  void verify(Block& block) noexcept {
    if (!verifying_) {
      return;
    }
    const std::span<std::byte> joined(block.bytes.data() - unverified_.size(), unverified_.size() + block.bytes.size());
    std::copy(unverified_.begin(), unverified_.end(), joined.begin());
    try {
      block.sound = wire::sound_records(joined);
      block.joined = unverified_.size();
    } catch (const std::bad_alloc&) {  // for the text of a problem
      verifying_ = false;
      return;
    }
    unverified_ = joined.subspan(block.sound);
    verifying_ = unverified_.size() <= margin_bytes;
  }

  const storage::File& file_;
  std::uint64_t offset_;
  std::uint64_t end_;
  std::array<std::unique_ptr<std::byte[]>, 4> memory_;  ///< Each a margin and a block.
  std::array<Block, 4> blocks_;                         ///< In turn: block i of the file is in `blocks_[i % size]`.
  std::span<const std::byte> unverified_;               ///< The end of the last block, where a record begins.
  bool verifying_ = true;                               ///< `unverified_` is known.
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t read_ = 0;   ///< Number of blocks that were read.
  std::uint64_t taken_ = 0;  ///< Number of blocks that `next` returned; the last two are in use.
  bool ended_ = false;       ///< No more blocks will be read.
  bool unwanted_ = false;
  std::thread thread_;
};

RecordScanner::~RecordScanner() = default;

RecordScanner::RecordScanner(const storage::File& file, std::uint64_t offset, bool remote, unsigned jobs)
    : file_(file),
      size_(file.size()),
      block_(remote ? remote_block : local_block),
      remote_(remote),
      offset_(std::min(offset, size_)) {
  if (jobs > 1 && !remote && left() >= worth_a_thread) {
    try {
      ahead_ = std::make_unique<ReadAhead>(file, offset_, size_);
    } catch (const std::system_error&) {  // the system's limit of threads
    } catch (const std::bad_alloc&) {
    }
  }
}

RecordScanner::Found RecordScanner::tell(Found found, std::string text) {
  problem_ = {found == Found::failed ? ProblemKind::io : ProblemKind::damaged, {}, offset_, std::move(text)};
  return found;
}

RecordScanner::Found RecordScanner::fail(Problem problem) {
  problem_ = std::move(problem);
  problem_.offset = offset_;
  return problem_.kind == ProblemKind::damaged ? Found::damaged : Found::failed;
}

bool RecordScanner::have(std::uint64_t bytes) {
  if (end_ - begin_ >= bytes || (ahead_ && have_ahead(bytes))) {
    return true;
  }
  const std::uint64_t wanted = std::max(bytes, std::min(block_, left()));
  if (wanted > capacity_) {
    std::unique_ptr<std::byte[]> larger(new (std::nothrow) std::byte[wanted]);
    if (larger == nullptr) {
      (void)tell(Found::failed, fmt::format("there is no memory for a record of {} bytes", bytes));
      return false;
    }
    std::copy_n(data_ + begin_, end_ - begin_, larger.get());
    ahead_.reset();
    buffer_ = std::move(larger);
    data_ = buffer_.get();
    capacity_ = wanted;
  } else {
    std::memmove(buffer_.get(), data_ + begin_, end_ - begin_);
  }
  end_ -= begin_;
  begin_ = sound_end_ = 0;
  const std::uint64_t more = std::min(capacity_, left()) - end_;
  auto read = file_.read_at(offset_ + end_, {buffer_.get() + end_, more});
  if (!read) {
    (void)fail(std::move(read.problem()));
    return false;
  }
  end_ += *read;
  if (end_ < bytes) {
    (void)tell(Found::failed, "the file became shorter while it was read");
    return false;
  }
  return true;
}

bool RecordScanner::have_ahead(std::uint64_t bytes) {
  const std::uint64_t rest = end_ - begin_;
  if (rest > ReadAhead::margin_bytes) {
    return false;
  }
  const ReadAhead::Block block = ahead_->next();
  if (block.bytes.empty()) {
    return false;
  }
  std::copy_n(data_ + begin_, rest, block.bytes.data() - rest);
  data_ = block.bytes.data() - ReadAhead::margin_bytes;
  begin_ = ReadAhead::margin_bytes - rest;
  end_ = ReadAhead::margin_bytes + block.bytes.size();
  sound_end_ = rest == block.joined ? begin_ + block.sound : 0;
  return end_ - begin_ >= bytes;
}

/// Looks for sound records from there on.
void RecordScanner::look_ahead(std::uint64_t begin) noexcept {
  const bool passed = begin >= end_;  // more than was read
  sound_end_ = begin + (passed ? 0 : wire::short_sound_records({data_ + begin, std::min(end_ - begin, looked_ahead)}));
}

/// Fills `into`, all of it. The file has that many bytes, or had them.
Status RecordScanner::read_all(std::uint64_t from, std::span<std::byte> into) const {
  auto got = file_.read_at(from, into);
  return !got                 ? Status(std::move(got.problem()))
         : *got < into.size() ? Status(make_problem(ProblemKind::io, "the file became shorter while it was read"))
                              : ok();
}

/// Returns whether the checksum of a payload is right. Precondition: the file has the whole record.
Outcome<bool> RecordScanner::is_sound(std::uint64_t payload, std::uint64_t bytes) const {
  std::vector<std::byte> block(std::min(bytes, block_) + wire::footer_bytes);
  std::uint32_t crc = 0;
  for (; bytes > block_; payload += block_, bytes -= block_) {
    const std::span<std::byte> part = std::span(block).first(block_);
    if (const Status read = read_all(payload, part); !read) {
      return read.problem();
    }
    crc = crc32c(part, crc);
  }
  const std::span<std::byte> rest = std::span(block).first(bytes + wire::footer_bytes);
  if (const Status read = read_all(payload, rest); !read) {
    return read.problem();
  }
  return mask_crc(crc32c(rest.first(bytes), crc)) == wire::load_little<std::uint32_t>(rest.last<wire::footer_bytes>());
}

/// Takes a record that is too large for memory: without the elements of its value, which are read when they are wanted.
RecordScanner::Found RecordScanner::take_large(std::uint64_t payload_bytes) {
  constexpr std::uint64_t window_bytes = std::uint64_t{64} << 10;
  const std::uint64_t begin = offset_ + wire::header_bytes;
  auto sound = is_sound(begin, payload_bytes);
  if (!sound) {
    return fail(std::move(sound.problem()));
  }
  if (!*sound) {
    return tell(Found::damaged, wrong_checksum);
  }
  std::vector<std::byte> window;
  std::uint64_t window_begin = 0;
  auto skeleton = wire::event_skeleton(payload_bytes, [&](std::uint64_t at, std::uint64_t bytes) {
    using Bytes = Outcome<std::span<const std::byte>>;
    if (at < window_begin || at + bytes > window_begin + window.size()) {
      window.resize(std::min(std::max(bytes, remote_ ? block_ : window_bytes), payload_bytes - at));
      window_begin = at;
      if (const Status read = read_all(begin + at, window); !read) {
        window.clear();
        return Bytes(read.problem());
      }
    }
    return Bytes(std::span<const std::byte>(window).subspan(at - window_begin, bytes));
  });
  if (!skeleton) {
    return fail(std::move(skeleton.problem()));
  }
  skeleton_ = *std::move(skeleton);
  payload_ = std::as_bytes(std::span(skeleton_));
  return Found::record;
}

/// Returns where the next record begins of which all checksums are right; nullopt if none begins nearby.
Outcome<std::optional<std::uint64_t>> RecordScanner::next_sound_record() {
  using Result = std::optional<std::uint64_t>;
  const std::uint64_t end = offset_ + std::min(left(), limits::searched_bytes);
  std::vector<std::byte> block(std::min(block_, left()));
  bool unfinished = false;  // a record may begin that the file does not have yet
  for (std::uint64_t from = offset_ + 1; from < end && size_ - from >= wire::frame_bytes;) {
    const std::span<std::byte> bytes = std::span(block).first(std::min<std::uint64_t>(block.size(), size_ - from));
    if (const Status read = read_all(from, bytes); !read) {
      return read.problem();
    }
    std::uint64_t i = 0;
    for (; i + wire::header_bytes <= bytes.size() && from + i < end; ++i) {
      const auto header = bytes.subspan(i).first<wire::header_bytes>();
      const auto length = wire::load_little<std::uint64_t>(header);
      if (length > limits::record_bytes ||
          mask_crc(crc32c(header.first<8>())) != wire::load_little<std::uint32_t>(header.last<4>())) {
        continue;
      }
      if (length + wire::frame_bytes > size_ - from - i) {
        unfinished = true;
        continue;
      }
      const auto sound = is_sound(from + i + wire::header_bytes, length);
      if (!sound) {
        return sound.problem();
      }
      if (*sound) {
        uncertain_ = uncertain_ || unfinished;
        return Result(from + i);
      }
      if (refuted_ += length; refuted_ > limits::refuted_bytes) {
        return Result();
      }
    }
    from += i;
  }
  return Result();
}

/// Passes over a record whose length is damaged.
RecordScanner::Found RecordScanner::pass_over(const std::string& why) {
  auto next = next_sound_record();
  if (!next) {
    (void)fail(std::move(next.problem()));
    return Found::failed;
  }
  constexpr std::string_view hint = "; if the file was copied, copy it again";
  if (!*next) {
    const std::string where = left() > limits::searched_bytes
                                  ? fmt::format("in the next {} MiB", limits::searched_bytes >> 20)
                                  : "among them";
    return tell(Found::lost, fmt::format("{}: the {} bytes from there on cannot be read, no sound record begins {}{}",
                                         why, left(), where, hint));
  }
  length_ = **next - offset_;
  return tell(Found::damaged, fmt::format("{}: the bytes from {} to {}, where the next sound record begins, are left "
                                          "out{}",
                                          why, offset_, **next, hint));
}

RecordScanner::Found RecordScanner::find_record() {
  if (begin_ > end_) {  // passed over more than was read
    ahead_.reset();
    data_ = buffer_.get();
    begin_ = end_ = sound_end_ = 0;
  }
  look_ahead(begin_);
  if (begin_ < sound_end_) {
    take_sound_record();
    return Found::record;
  }
  if (left() == 0) {
    return Found::end;
  }
  if (left() < wire::header_bytes) {
    return tell(Found::cut, fmt::format("the last record is cut short after {} bytes", left()));
  }
  if (!have(wire::header_bytes)) {
    return Found::failed;
  }
  const auto payload_bytes = wire::parse_header({data_ + begin_, wire::header_bytes});
  if (!payload_bytes) {
    if (offset_ == 0 && wire::looks_compressed({data_ + begin_, wire::header_bytes})) {
      return tell(Found::compressed, "compressed twice: its records are not looked for; uncompress it once");
    }
    return pass_over(payload_bytes.problem().text);
  }
  const std::uint64_t length = *payload_bytes + wire::frame_bytes;
  if (length > left()) {
    return tell(Found::cut, fmt::format("the last record is cut short: {} of {} bytes are there", left(), length));
  }
  if (length > whole_record) {
    length_ = length;
    return take_large(*payload_bytes);
  }
  if (!have(length)) {
    return Found::failed;
  }
  length_ = length;
  const std::span<const std::byte> record(data_ + begin_, length);
  payload_ = record.subspan(wire::header_bytes, *payload_bytes);
  const auto footer = wire::load_little<std::uint32_t>(record.last<wire::footer_bytes>());
  return mask_crc(crc32c(payload_)) == footer ? Found::record : tell(Found::damaged, wrong_checksum);
}

}  // namespace smd::detail::layout
