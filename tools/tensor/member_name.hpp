// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace smd::tool::tensor {

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
/// - in a name that differs from an earlier one's only in case: the upper-case letters, else all letters.
class MemberNames {
 public:
  /// The member's name for an array, without `.npy`; nullopt if that array has one already.
  [[nodiscard]] std::optional<std::string> add(std::string_view array);

 private:
  std::set<std::string, std::less<>> arrays_;
  std::set<std::string> folded_;  // members in lower case, as case-insensitive systems see them
};

}  // namespace smd::tool::tensor
