// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "npy.hpp"

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace smd::tool::tensor {

/// `%2F`.
[[nodiscard]] std::string percent_encoded(char byte);

/// Makes the names of an archive's members from names of arrays, which may be anything: in whatever folder and on
/// whatever system the archive is unpacked, each member is a file of its own beneath that folder. Bytes that would
/// prevent that are written %XX, as in URLs; nothing else has a `%`, so that decoding (Python's urllib.parse.unquote)
/// gives the array's name. Encoded are:
///
/// - `%`, the backslash, and `" * < > ? |`;
/// - control characters, and bytes that are not UTF-8;
/// - a slash at the beginning or after a slash, and all of a part between slashes that is `.` or `..`;
/// - a point or space at the end of a folder's name, the colon of a drive (`C:`);
/// - the first letter of a folder's or array's name that Windows keeps for a device (CON, PRN, AUX, NUL, COM1, LPT1 …);
/// - in a name that differs from an earlier one's only in case: the upper-case letters, else all letters;
/// - the point of `.npy` at the end of a name, if the name without it is an earlier array's.
class MemberNames {
 public:
  /// The member's name for an array, without `.npy`; nullopt if that array has one already.
  [[nodiscard]] std::optional<std::string> add(std::string_view array);

 private:
  std::set<std::string, std::less<>> arrays_;
  std::set<std::string> folded_;  // members in lower case, as case-insensitive systems see them
};

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

  /// What the member's own header and its entry in the directory have in common. `large`: the numbers of its ZIP64
  /// field.
  [[nodiscard]] static std::string description(const Member& member, const std::string& large);
  void put(std::string_view bytes);

  OutputFile& out_;
  std::uint64_t offset_ = 0;
  std::vector<Member> members_;
};

/// An .npz archive: one .npy member per array.
class NpzWriter {
 public:
  NpzWriter(OutputFile& out, Diagnostics& messages) : zip_(out), messages_(messages) {}

  /// Adds an array whose elements are those of all `parts` in order; all are of one type. `numpy.load(…)` will know it
  /// by `key`, as `MemberNames` writes it.
  void add(std::string_view key, Dtype dtype, std::span<const std::int64_t> shape,
           const std::vector<std::span<const std::byte>>& parts);
  void finish();

 private:
  ZipWriter zip_;
  Diagnostics& messages_;
  MemberNames names_;
  std::size_t encoded_ = 0;
  std::string first_encoded_;
  std::vector<std::string> left_out_;  // keys of strings that are not text
};

}  // namespace smd::tool::tensor
