// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "storage/storage.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

namespace smd::test {

/// A file whose bytes are in memory. Counts what is read of it.
class MemoryFile final : public detail::storage::File {
 public:
  explicit MemoryFile(std::string bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  detail::Outcome<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) const override {
    const std::size_t size = offset >= bytes_.size() ? 0 : std::min<std::size_t>(into.size(), bytes_.size() - offset);
    if (size > 0) {
      std::memcpy(into.data(), bytes_.data() + offset, size);
    }
    read_ += size;
    return size;
  }
  [[nodiscard]] std::uint64_t bytes_read() const noexcept { return read_; }

 private:
  std::string bytes_;
  mutable std::uint64_t read_ = 0;
};

}  // namespace smd::test
