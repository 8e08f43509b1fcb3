// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/outcome.hpp"

/// TFRecord files written with GZIP or ZLIB compression. Offsets in index files count inflated bytes.
namespace smd::detail::wire {

/// Tells by a file's first bytes (four are enough, fewer than two are never). A plain record file can look like this
/// only if its first record's length has 1f 8b 08 or 78 xx as its low bytes: then the length's checksum decides, so
/// pass the first 12 bytes where the file has them.
[[nodiscard]] bool looks_compressed(std::span<const std::byte> first_bytes) noexcept;

/// Reads ranges of the inflated stream. Going forward is cheap, going back starts anew; memory is bounded whatever the
/// file says. Several gzip members in a row count as one stream. Not for concurrent use.
class InflatedFile {
 public:
  /// Reads the compressed file: fills `into` from `offset`, fewer bytes only at the end.
  using ReadAt = std::function<Outcome<std::size_t>(std::uint64_t offset, std::span<std::byte> into)>;

  explicit InflatedFile(ReadAt read);
  ~InflatedFile();
  InflatedFile(InflatedFile&&) noexcept;
  InflatedFile& operator=(InflatedFile&&) noexcept;

  /// Fills `into` from inflated byte `start`; fewer bytes only at the end of the stream. Problems' offsets are those of
  /// the compressed file. A stream that is cut off is `not_yet`: only the caller knows whether more will come.
  Outcome<std::size_t> read_at(std::uint64_t start, std::span<std::byte> into);

  /// Exactly `length` bytes from `start`. Memory grows with the bytes that come, not with what was asked for; a range
  /// that is longer than a record can be, or goes past the end, is damaged.
  Outcome<std::vector<std::byte>> read_range(std::uint64_t start, std::uint64_t length);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smd::detail::wire
