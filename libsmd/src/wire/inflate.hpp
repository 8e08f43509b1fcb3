// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "types/outcome.hpp"

#include <smd/limits.hpp>

/// TFRecord files written with GZIP or ZLIB compression. Offsets in index files count inflated bytes.
namespace smd::detail::wire {

/// Tells by a file's first bytes (four are enough, fewer than two are never). A plain record file can look like this
/// only if its first record's length has 1f 8b 08 or 78 xx as its low bytes: then the length's checksum decides, so
/// pass the first 12 bytes where the file has them.
[[nodiscard]] bool looks_compressed(std::span<const std::byte> first_bytes) noexcept;

/// A range that goes past the end of the inflated stream.
[[nodiscard]] Problem past_the_end(std::uint64_t start, std::uint64_t length);

/// Reads ranges of the inflated stream. Going forward is cheap; places to go back to are kept on the way, so that going
/// back costs the bytes since the one before: a megabyte, or 1/128 of a large file. Memory is bounded (some 6 MiB)
/// whatever the file says, and so is what is inflated more than once (`limits::inflated_passes`): past it reading is
/// refused as damage. Several gzip members in a row count as one stream. Not for concurrent use.
class InflatedFile {
 public:
  /// Reads the compressed file: fills `into` from `offset`, fewer bytes only at the end.
  using ReadAt = std::function<Outcome<std::size_t>(std::uint64_t offset, std::span<std::byte> into)>;

  /// `most_again`: bytes that may be inflated more than once, whatever the file's size.
  explicit InflatedFile(ReadAt read, std::uint64_t most_again = limits::inflated_again_bytes);
  ~InflatedFile();
  InflatedFile(InflatedFile&&) noexcept;
  InflatedFile& operator=(InflatedFile&&) noexcept;

  /// Fills `into` from inflated byte `start`; fewer bytes only at the end of the stream. Problems' offsets are those of
  /// the compressed file. A stream that is cut off is `not_yet`: only the caller knows whether more will come.
  Outcome<std::size_t> read_at(std::uint64_t start, std::span<std::byte> into);

  /// Exactly `length` bytes from `start`. Memory is taken only once the bytes are known to be there; a range that is
  /// longer than a record can be, or goes past the end, is damaged.
  Outcome<std::vector<std::byte>> read_range(std::uint64_t start, std::uint64_t length);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smd::detail::wire
