// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/output_file.hpp"

namespace smd::tool::tensor {

/// Writes a ZIP archive of stored (not compressed) members to something that cannot seek. Members and archives of 4 GiB
/// and more, and more than 65,534 members, use ZIP64. All members have the date 1980-01-01, so that the same values
/// give the same bytes.
class ZipWriter {
 public:
  explicit ZipWriter(OutputFile& out) : out_(out) {}

  /// Longest member name.
  static constexpr std::size_t name_bytes = 0xFFFF;

  /// Begins a member whose bytes then follow by `write`, `size` in all. Precondition: names are distinct, and not
  /// longer than `name_bytes`.
  void begin(std::string_view name, std::uint32_t crc, std::uint64_t size);
  void write(std::span<const std::byte> bytes);
  [[nodiscard]] bool empty() const noexcept { return members_.empty(); }
  /// Writes the directory. Call it after all members.
  void finish();

 private:
  struct Member {
    std::string name;
    std::uint32_t crc;
    std::uint64_t size;
    std::uint64_t offset;
  };

  void put(std::string_view bytes);

  OutputFile& out_;
  std::uint64_t offset_ = 0;
  std::vector<Member> members_;
};

}  // namespace smd::tool::tensor
