// SPDX-License-Identifier: Apache-2.0
#include "wire/inflate.hpp"

#include "wire/framing.hpp"

#include <smd/limits.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>

namespace smd::detail::wire {
namespace {

constexpr std::size_t input_bytes = 64 * 1024;
constexpr std::size_t skip_bytes = 64 * 1024;
constexpr std::size_t first_range_bytes = 1024 * 1024;
constexpr int detect_gzip_or_zlib = MAX_WBITS + 32;

}  // namespace

bool looks_compressed(std::span<const std::byte> first_bytes) noexcept {
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(first_bytes[at]); };
  if (first_bytes.size() < 2) {
    return false;
  }
  const bool gzip = byte(0) == 0x1F && byte(1) == 0x8B && (first_bytes.size() < 3 || byte(2) == 8);
  const bool zlib = byte(0) == 0x78 && (byte(0) * 256 + byte(1)) % 31 == 0 && (byte(1) & 0x20) == 0;
  if (!gzip && !zlib) {
    return false;
  }
  // A plain file may begin like this by the length of its first record, whose checksum then is right.
  return first_bytes.size() < header_bytes || !parse_header(first_bytes.first(header_bytes));
}

struct InflatedFile::State {
  explicit State(ReadAt reader) : read(std::move(reader)) {}
  ~State() { close(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  ReadAt read;
  z_stream stream{};
  bool open = false;
  bool at_member_end = false;  ///< A member has just ended: either another begins, or the stream is over.
  bool is_gzip = false;        ///< Of the member being read.
  bool over = false;           ///< All members have ended.
  std::uint64_t fed = 0;       ///< Compressed bytes read from the file.
  std::uint64_t inflated = 0;  ///< Bytes given out.
  std::array<std::byte, input_bytes> input;

  void close() noexcept {
    if (open) {
      inflateEnd(&stream);
      open = false;
    }
  }

  [[nodiscard]] std::uint64_t consumed() const noexcept { return fed - stream.avail_in; }

  Status restart() {
    close();
    stream = {};
    at_member_end = over = is_gzip = false;
    fed = inflated = 0;
    if (inflateInit2(&stream, detect_gzip_or_zlib) != Z_OK) {
      return Problem{ProblemKind::io, {}, {}, "out of memory"};
    }
    open = true;
    return ok();
  }

  /// More input, if there is none left. False at the end of the file.
  Outcome<bool> feed() {
    if (stream.avail_in != 0) {
      return true;
    }
    Outcome<std::size_t> got = read(fed, input);
    if (!got) {
      return std::move(got.problem());
    }
    if (fed == 0 && *got != 0) {
      is_gzip = input[0] == std::byte{0x1F};
    }
    stream.next_in = reinterpret_cast<Bytef*>(input.data());
    stream.avail_in = static_cast<uInt>(*got);
    fed += *got;
    return *got != 0;
  }

  /// Goes on with the next member, if there is one: only gzip has several.
  Status next_member() {
    Outcome<bool> more = feed();
    if (!more) {
      return std::move(more.problem());
    }
    if (!*more) {
      over = true;
      return ok();
    }
    if (!is_gzip || *stream.next_in != 0x1F) {
      return damaged("bytes after the end of the compressed data", consumed());
    }
    inflateReset(&stream);
    at_member_end = false;
    return ok();
  }

  /// The next bytes of the stream; fewer only at its end. What follows them and gives no bytes is read too: else a cut
  /// in the checksum after the last ones would pass.
  Outcome<std::size_t> take(std::span<std::byte> into) {
    std::size_t done = 0;
    const auto filled = [&] { return done == into.size() && (done == 0 || at_member_end || stream.avail_in != 0); };
    while (!over && !filled()) {
      if (at_member_end) {
        if (Status next = next_member(); !next) {
          return std::move(next.problem());
        }
        continue;
      }
      Outcome<bool> more = feed();
      if (!more) {
        return std::move(more.problem());
      }
      if (!*more) {
        return Problem{ProblemKind::not_yet, {}, fed, "compressed data is cut off"};
      }
      const std::size_t room = std::min<std::size_t>(into.size() - done, 1u << 30);
      stream.next_out = reinterpret_cast<Bytef*>(into.data() + done);
      stream.avail_out = static_cast<uInt>(room);
      const int result = inflate(&stream, Z_NO_FLUSH);
      const std::size_t got = room - stream.avail_out;
      done += got;
      inflated += got;
      if (result == Z_STREAM_END) {
        at_member_end = true;
      } else if (result == Z_MEM_ERROR) {
        return Problem{ProblemKind::io, {}, {}, "out of memory"};
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return damaged(fmt::format("compressed data: {}", stream.msg != nullptr ? stream.msg : "not sound"),
                       consumed());
      }
    }
    return done;
  }

  /// Goes to an inflated byte. False if the stream ends before it.
  Outcome<bool> seek(std::uint64_t start) {
    if (!open || start < inflated) {
      if (Status restarted = restart(); !restarted) {
        return std::move(restarted.problem());
      }
    }
    std::vector<std::byte> scrap(static_cast<std::size_t>(std::min<std::uint64_t>(skip_bytes, start - inflated)));
    while (inflated < start) {
      const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(scrap.size(), start - inflated));
      Outcome<std::size_t> got = take(std::span(scrap).first(want));
      if (!got) {
        return std::move(got.problem());
      }
      if (*got < want) {
        return false;
      }
    }
    return true;
  }

  Outcome<std::size_t> read_at(std::uint64_t start, std::span<std::byte> into) {
    Outcome<std::size_t> got = seek_and_take(start, into);
    if (!got) {
      close();  // where zlib stands after an error means nothing
    }
    return got;
  }

  Outcome<std::size_t> seek_and_take(std::uint64_t start, std::span<std::byte> into) {
    Outcome<bool> there = seek(start);
    if (!there) {
      return std::move(there.problem());
    }
    return *there ? take(into) : Outcome<std::size_t>(std::size_t{0});
  }
};

InflatedFile::InflatedFile(ReadAt read) : state_(std::make_unique<State>(std::move(read))) {}
InflatedFile::~InflatedFile() = default;
InflatedFile::InflatedFile(InflatedFile&&) noexcept = default;
InflatedFile& InflatedFile::operator=(InflatedFile&&) noexcept = default;

Outcome<std::size_t> InflatedFile::read_at(std::uint64_t start, std::span<std::byte> into) {
  try {
    return state_->read_at(start, into);
  } catch (const std::bad_alloc&) {
    return Problem{ProblemKind::io, {}, {}, "out of memory"};
  }
}

Outcome<std::vector<std::byte>> InflatedFile::read_range(std::uint64_t start, std::uint64_t length) {
  if (length > limits::record_bytes + frame_bytes) {
    return damaged(fmt::format("range of {} bytes; the limit (record_bytes) is {}", length, limits::record_bytes));
  }
  std::vector<std::byte> bytes;
  try {
    while (bytes.size() < length) {
      const std::size_t have = bytes.size();
      bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(length, std::max(2 * have, first_range_bytes))));
      Outcome<std::size_t> got = state_->read_at(start + have, std::span(bytes).subspan(have));
      if (!got) {
        return std::move(got.problem());
      }
      if (*got < bytes.size() - have) {
        return damaged(fmt::format("range ends at byte {} of the inflated file, which has fewer", start + length));
      }
    }
  } catch (const std::bad_alloc&) {
    return Problem{ProblemKind::io, {}, {}, "out of memory"};
  }
  return bytes;
}

}  // namespace smd::detail::wire
