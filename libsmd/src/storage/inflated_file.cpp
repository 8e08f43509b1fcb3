// SPDX-License-Identifier: Apache-2.0
#include "storage/inflated_file.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace smd::detail::storage {
namespace {

constexpr std::size_t input_bytes = 64 * 1024;
constexpr std::size_t skip_bytes = 64 * 1024;
/// Initial number of inflated bytes between restart places, and the number of places, about 48 KiB each.
constexpr std::uint64_t first_spacing = 1024 * 1024;
constexpr std::size_t most_places = 128;
constexpr int detect_gzip_or_zlib = MAX_WBITS + 32;

/// A place from which inflation can restart.
struct RestartPlace {
  z_stream stream{};
  std::uint64_t consumed = 0;  ///< Compressed bytes before it.
  std::uint64_t inflated = 0;  ///< Bytes inflated before it.
  bool is_gzip = false;

  RestartPlace() = default;
  RestartPlace(const RestartPlace&) = delete;  // zlib's state refers to its stream by address
  RestartPlace& operator=(const RestartPlace&) = delete;
  ~RestartPlace() { inflateEnd(&stream); }
};

}  // namespace

struct InflatedFile::State {
  State(std::unique_ptr<File> compressed, std::uint64_t may_again)
      : file(std::move(compressed)), most_again(may_again) {}
  ~State() { close(); }

  std::mutex mutex;
  std::unique_ptr<File> file;
  std::uint64_t most_again;
  z_stream stream{};
  bool open = false;
  bool at_member_end = false;  ///< A member has just ended: either another begins, or the stream is over.
  bool is_gzip = false;        ///< Format of the current member.
  bool over = false;           ///< All members have ended.
  std::uint64_t fed = 0;       ///< Compressed bytes read from the file.
  std::uint64_t inflated = 0;  ///< Bytes inflated so far.
  std::vector<std::unique_ptr<RestartPlace>> places;  ///< In ascending order, about `spacing` apart.
  std::uint64_t spacing = first_spacing;
  std::uint64_t furthest = 0;  ///< The greatest inflated offset reached so far.
  std::uint64_t again = 0;     ///< Bytes inflated more than once.
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
      return make_problem(ProblemKind::io, "out of memory");
    }
    open = true;
    return ok();
  }

  /// Saves the current place, if it is new and far enough from the last one. Skips this if memory runs out.
  void keep_place() {
    if (inflated < furthest || inflated < (places.empty() ? 0 : places.back()->inflated) + spacing) {
      return;
    }
    if (places.size() == most_places) {
      for (std::size_t i = 0; i < most_places / 2; ++i) {
        places[i] = std::move(places[2 * i + 1]);
      }
      places.resize(most_places / 2);
      spacing *= 2;
    }
    auto place = std::make_unique<RestartPlace>();
    if (inflateCopy(&place->stream, &stream) != Z_OK) {
      return;
    }
    place->consumed = consumed();
    place->inflated = inflated;
    place->is_gzip = is_gzip;
    places.push_back(std::move(place));
  }

  /// Moves to the nearest place not after `start`; stays at the current position if that is as near.
  Status approach(std::uint64_t start) {
    const auto after = std::ranges::upper_bound(places, start, {}, [](const auto& place) { return place->inflated; });
    const std::uint64_t kept = after == places.begin() ? 0 : (*std::prev(after))->inflated;
    if (open && inflated <= start && inflated >= kept) {
      return ok();
    }
    if (after == places.begin()) {
      return restart();
    }
    close();
    RestartPlace& place = **std::prev(after);
    stream = {};
    if (inflateCopy(&stream, &place.stream) != Z_OK) {
      return make_problem(ProblemKind::io, "out of memory");
    }
    open = true;
    stream.avail_in = 0;
    at_member_end = over = false;
    is_gzip = place.is_gzip;
    fed = place.consumed;
    inflated = place.inflated;
    return ok();
  }

  /// Counts inflated bytes: the time for seeking back and forth must stay proportional to the file's size.
  Status count(std::size_t bytes) {
    const std::uint64_t before = inflated;
    inflated += bytes;
    again += std::min(inflated, furthest) - std::min(before, furthest);
    furthest = std::max(furthest, inflated);
    if (again > std::max(most_again, limits::inflated_passes * furthest)) {
      return damaged(
          fmt::format("compressed data: {} bytes were inflated more than once, as what is named in it leads back again "
                      "and again (limit inflated_passes)",
                      again));
    }
    return ok();
  }

  /// Reads more input if there is none left. Returns false at the end of the file.
  Outcome<bool> feed() {
    if (stream.avail_in != 0) {
      return true;
    }
    Outcome<std::size_t> got = file->read_at(fed, input);
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

  /// Continues with the next member, if there is one; only gzip has several.
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

  /// Reads the next bytes of the stream; fewer only at its end. Also reads trailing data that yields no bytes, so that
  /// a file cut off inside the last checksum is detected.
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
      const std::size_t room = std::min<std::size_t>(into.size() - done, first_spacing);
      stream.next_out = reinterpret_cast<Bytef*>(into.data() + done);
      stream.avail_out = static_cast<uInt>(room);
      const int result = inflate(&stream, Z_NO_FLUSH);
      const std::size_t got = room - stream.avail_out;
      done += got;
      if (Status counted = count(got); !counted) {
        return std::move(counted.problem());
      }
      if (result == Z_STREAM_END) {
        at_member_end = true;
      } else if (result == Z_MEM_ERROR) {
        return make_problem(ProblemKind::io, "out of memory");
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        return damaged(fmt::format("compressed data: {}", stream.msg != nullptr ? stream.msg : "not sound"),
                       consumed());
      } else if (result == Z_OK) {
        keep_place();
      }
    }
    return done;
  }

  /// Moves to an inflated offset. Returns false if the stream ends before it.
  Outcome<bool> seek(std::uint64_t start) {
    if (Status near = approach(start); !near) {
      return std::move(near.problem());
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
    const Outcome<bool> there = seek(start);
    Outcome<std::size_t> got = !there   ? Outcome<std::size_t>(there.problem())
                               : *there ? take(into)
                                        : Outcome<std::size_t>(std::size_t{0});
    if (!got) {
      close();  // zlib's state is meaningless after an error
    }
    return got;
  }
};

InflatedFile::InflatedFile(std::unique_ptr<File> compressed, std::uint64_t most_again)
    : state_(std::make_unique<State>(std::move(compressed), most_again)) {}
InflatedFile::~InflatedFile() = default;

Outcome<std::size_t> InflatedFile::read_at(std::uint64_t start, std::span<std::byte> into) const try {
  const std::lock_guard lock(state_->mutex);
  Outcome<std::size_t> got = state_->read_at(start, into);
  if (!got && got.problem().offset) {
    got.problem().text += fmt::format(" at byte {} of the file itself", *got.problem().offset);
    got.problem().offset.reset();
  }
  return got;
} catch (const std::bad_alloc&) {
  return make_problem(ProblemKind::io, "out of memory");
}

}  // namespace smd::detail::storage
