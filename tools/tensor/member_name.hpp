// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace smd::tool::tensor {

/// Names of an archive's members, made of array names that may be anything: beneath whatever folder the archive is
/// unpacked in, on whatever system, each is a file of its own. Bytes that could not be are written %XX, as in URLs;
/// nothing else has a `%`, so that decoding (Python's urllib.parse.unquote) gives the array's name. Encoded are:
///
/// - `%`, the backslash, and `" * < > ? |`;
/// - control characters, and bytes that are not UTF-8;
/// - a slash at the beginning or after a slash, and all of a part between slashes that is `.` or `..`;
/// - a point or space at the end of a folder's name, the colon of a drive (`C:`);
/// - the first letter of a folder's or array's name that Windows keeps for a device (CON, PRN, AUX, NUL, COM1, LPT1 …);
/// - of a name that differs from an earlier one's in nothing but case: the upper-case letters, else all letters.
class MemberNames {
 public:
  /// The member's name for an array, without `.npy`; nothing if that array has one already.
  [[nodiscard]] std::optional<std::string> add(std::string_view array);

 private:
  std::set<std::string, std::less<>> arrays_;
  std::set<std::string> folded_;  // members as a system knows them that takes upper and lower case for the same
};

}  // namespace smd::tool::tensor
