// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/descriptor.hpp"

/// A cache's folder and the names in it: the marker, folders named by two hexadecimal digits, entries in these named
/// by 62 such digits, and temporary files. Nothing else is ever opened, replaced or removed, and no symbolic link
/// below the folder is followed.
namespace smd::detail::storage::s3 {

/// The marker: a file that backup programs recognise (bford.info/cachedir), with a second line of our own.
inline constexpr const char* cache_marker = "CACHEDIR.TAG";

struct CacheFolder {
  Descriptor root;       ///< Open if the folder is usable.
  std::string trouble;   ///< Why it is not usable.
  bool foreign = false;  ///< It contains files that are not a cache's: the user named the wrong folder.
};

/// Opens the folder of a cache. Creates it and its parents if needed, accessible only to this user. An existing folder
/// must have the marker, or be empty: then it receives one. Safe for any number of processes at the same time.
[[nodiscard]] CacheFolder open_cache_folder(const std::string& path);

/// Opens the folder of two digits for an entry; not open, with errno, if there is none or something else has its name.
/// `make`: create it if needed.
[[nodiscard]] Descriptor open_entry_folder(int root, const std::string& name, bool make);

/// Returns a name for a temporary file that no other process on any machine uses.
[[nodiscard]] std::string temporary_name();

/// Writes all of `text` to the file `temporary` in `folder`, and renames it to `name`. If `name` exists and is not a
/// regular file, this is an error and it is kept. Returns 0, or the errno of the failure; then the temporary file does
/// not remain.
[[nodiscard]] int write_whole(int folder, const std::string& temporary, const std::string& name, std::string_view text);

/// If the entries take more than `most_bytes`, removes the least recently used ones until an eighth is free. Also
/// removes files that a process left unfinished more than an hour ago. Ignores what other processes remove meanwhile.
void make_room(int root, std::uint64_t most_bytes);

}  // namespace smd::detail::storage::s3
