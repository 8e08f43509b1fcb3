// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "types/outcome.hpp"

#include <smd/limits.hpp>

/// TFRecord files written with GZIP or ZLIB compression. Offsets in index files count inflated bytes.
namespace smd::detail::wire {

/// Returns whether a file is compressed, from its first bytes (four suffice; fewer than two give false). A plain
/// record file looks compressed only if the low bytes of its first record's length are 1f 8b 08 or 78 xx; then the
/// length's checksum decides, so pass the first 12 bytes where the file has them.
[[nodiscard]] bool looks_compressed(std::span<const std::byte> first_bytes) noexcept;

/// Returns the problem of a range that goes past the end of the inflated stream.
[[nodiscard]] Problem past_the_end(std::uint64_t start, std::uint64_t length);

/// Moves the offset of a problem, which is one in the compressed file, to its text.
[[nodiscard]] Problem inflated_problem(Problem problem);
/// What follows the text of a problem whose offset is one in the inflated stream.
inline constexpr std::string_view in_inflated_stream = " (in the inflated stream)";

/// Reads ranges of the inflated stream. Reading forward is cheap. Restart places are saved on the way, so that reading
/// backward costs at most the distance between two of them: a megabyte, or 1/128 of a large file. Memory is bounded
/// (about 6 MiB) whatever the file contains, and so is the amount inflated more than once (`limits::inflated_passes`):
/// reading beyond it is refused as damage. Consecutive gzip members form one stream. Not safe for concurrent use.
class InflatedFile {
 public:
  /// Reads the compressed file: fills `into` from `offset` on, with fewer bytes only at the end.
  using ReadAt = std::function<Outcome<std::size_t>(std::uint64_t offset, std::span<std::byte> into)>;

  /// `most_again`: number of bytes that may be inflated more than once, independent of the file's size.
  explicit InflatedFile(ReadAt read, std::uint64_t most_again = limits::inflated_again_bytes);
  ~InflatedFile();
  InflatedFile(InflatedFile&&) noexcept;
  InflatedFile& operator=(InflatedFile&&) noexcept;

  /// Fills `into` from inflated byte `start` on, with fewer bytes only at the end of the stream. Problems' offsets are
  /// those of the compressed file. If the stream is cut off, the problem is `not_yet`: only the caller knows whether
  /// more will come.
  Outcome<std::size_t> read_at(std::uint64_t start, std::span<std::byte> into);

  /// Reads exactly `length` bytes from `start` on. Allocates memory only after checking that the bytes exist. A range
  /// that is longer than a record can be, or that goes past the end, is damaged.
  Outcome<std::vector<std::byte>> read_range(std::uint64_t start, std::uint64_t length);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smd::detail::wire
