// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"
#include "text/limits.hpp"
#include "types/outcome.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

/// Files written with GZIP or ZLIB compression.
namespace smd::detail::storage {

/// The inflated stream of a file. Reading forward is cheap. Restart places are saved on the way, so that reading
/// backward costs at most the distance between two of them: a megabyte, or 1/128 of a large file. Memory is bounded
/// (about 6 MiB) whatever the file contains, and so is the amount inflated more than once (`limits::inflated_passes`):
/// reading beyond it is refused as damage. Consecutive gzip members form one stream. Threads wait for each other.
class InflatedFile final : public storage::File {
 public:
  /// `most_again`: number of bytes that may be inflated more than once, independent of the file's size.
  explicit InflatedFile(std::unique_ptr<storage::File> compressed,
                        std::uint64_t most_again = limits::inflated_again_bytes);
  ~InflatedFile() override;

  [[nodiscard]] std::uint64_t size() const noexcept override { return unknown_size; }
  /// A problem has no offset: its text says at which byte of the compressed file it is. If the stream is cut off, it is
  /// `not_yet`: only the caller knows whether more will come.
  Outcome<std::size_t> read_at(std::uint64_t start, std::span<std::byte> into) const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smd::detail::storage
