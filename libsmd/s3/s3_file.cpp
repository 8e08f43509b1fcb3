// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include "base/parallel.hpp"
#include "s3/s3_storage.hpp"
#include "storage/beneath.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::uint64_t farthest = std::uint64_t{1} << 62;        ///< Beyond the end of any object.
constexpr std::uint64_t windows_bytes = std::uint64_t{48} << 20;  ///< For all files open at once.
constexpr std::uint64_t least_window = std::uint64_t{256} << 10;
constexpr std::uint64_t most_window = std::uint64_t{4} << 20;
constexpr std::uint64_t near_bytes = std::uint64_t{64} << 10;   ///< If a read starts this close after the last one,
                                                                ///< the next will probably continue.
constexpr std::uint64_t direct_bytes = std::uint64_t{1} << 20;  ///< Reads of at least this size go directly to their
                                                                ///< destination,
constexpr std::uint64_t piece_bytes = std::uint64_t{8} << 20;   ///< in pieces of this size, several at once.

std::uint64_t window_limit(const Bucket& bucket) {
  return std::clamp(windows_bytes / bucket.client().settings().in_flight, least_window, most_window);
}

/// An object. Holds one window of it: at first the bytes requested on opening, later those read last and, during
/// sequential reading, those that follow.
class S3File final : public File {
 public:
  S3File(std::shared_ptr<Bucket> bucket, std::string name) : bucket_(std::move(bucket)), name_(std::move(name)) {}

  /// Reads the first window, and with it size and ETag.
  Status open(std::uint64_t offset, std::uint64_t length) {
    offset = std::min(offset, farthest);
    // For a range longer than a window, reads only the beginning, which identifies it; the rest later goes directly to
    // its destination.
    length = length > window_limit(*bucket_) ? near_bytes : std::max<std::uint64_t>(length, 1);
    auto range = fetch(offset, length, {});
    if (!range) {
      return std::move(range.problem());
    }
    etag_ = range->etag;
    size_ = range->object_size;
    return ok();
  }

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }

  Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    if (offset >= size_) {
      return std::size_t{0};
    }
    into = into.first(static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - offset)));
    const std::lock_guard lock(mutex_);
    const std::size_t ready = from_window(offset, into);
    const std::span<std::byte> rest = into.subspan(ready);
    if (rest.empty()) {
      return into.size();
    }
    const std::uint64_t start = offset + ready;
    if (rest.size() >= direct_bytes) {
      auto status = read_direct(start, rest);
      return status ? Outcome<std::size_t>(into.size()) : Outcome<std::size_t>(std::move(status.problem()));
    }
    const std::uint64_t window_end = window_offset_ + window_.size();
    const bool goes_on = !window_.empty() && start >= window_end && start - window_end <= near_bytes;
    const std::uint64_t ahead =
        goes_on
            ? std::min<std::uint64_t>(std::max<std::uint64_t>(window_.size() * 2, near_bytes), window_limit(*bucket_))
            : 0;
    auto range =
        fetch(start, std::min<std::uint64_t>(std::max<std::uint64_t>(rest.size(), ahead), size_ - start), etag_);
    if (!range) {
      return std::move(range.problem());
    }
    return ready + from_window(start, rest);
  }

 private:
  /// Copies the bytes of `into` that the window has, from its start; returns their number.
  std::size_t from_window(std::uint64_t offset, std::span<std::byte> into) const noexcept {
    if (offset < window_offset_ || offset - window_offset_ >= window_.size()) {
      return 0;
    }
    const auto from = static_cast<std::size_t>(offset - window_offset_);
    const std::size_t size = std::min(into.size(), window_.size() - from);
    std::memcpy(into.data(), window_.data() + from, size);
    return size;
  }

  Outcome<Bucket::Range> fetch(std::uint64_t offset, std::uint64_t length, const std::string& etag) const try {
    window_.resize(static_cast<std::size_t>(length));
    auto range = bucket_->get_range(name_, offset, window_, etag, true);
    window_offset_ = offset;
    window_.resize(range ? range->bytes : 0);
    return range;
  } catch (const std::bad_alloc&) {
    window_.clear();
    return Problem{ProblemKind::io, name_, {}, "memory ran out"};
  }

  Status read_direct(std::uint64_t offset, std::span<std::byte> into) const {
    std::mutex mutex;
    std::optional<Problem> trouble;
    const unsigned jobs = bucket_->client().settings().in_flight;
    parallel_for(jobs, into.size(), piece_bytes, [&](std::size_t begin, std::size_t end, unsigned) {
      for (std::size_t at = begin; at < end; at += piece_bytes) {
        const std::span<std::byte> piece = into.subspan(at, std::min<std::size_t>(end - at, piece_bytes));
        auto range = bucket_->get_range(name_, offset + at, piece, etag_, false);
        if (range && range->bytes == piece.size()) {
          continue;
        }
        const std::lock_guard lock(mutex);
        trouble = range ? Problem{ProblemKind::io, name_, {}, "ends earlier than it did"} : std::move(range.problem());
        return;
      }
    });
    return trouble ? Status(std::move(*trouble)) : ok();
  }

  std::shared_ptr<Bucket> bucket_;
  std::string name_;
  std::string etag_;
  std::uint64_t size_ = 0;
  mutable std::mutex mutex_;
  mutable std::uint64_t window_offset_ = 0;
  mutable std::vector<std::byte> window_;
};

}  // namespace

Outcome<std::unique_ptr<File>> open_s3_file(const std::shared_ptr<Bucket>& bucket, std::string_view name,
                                            std::uint64_t offset, std::uint64_t length) {
  const std::string_view refused = name.empty() ? "the name is empty" : refuse_path(name);
  if (!refused.empty()) {
    return Problem{ProblemKind::damaged, std::string(name), {}, std::string(refused)};
  }
  auto file = std::make_unique<S3File>(bucket, std::string(name));
  if (auto opened = file->open(offset, length); !opened) {
    return std::move(opened.problem());
  }
  return std::unique_ptr<File>(std::move(file));
}

}  // namespace smd::detail::storage::s3
