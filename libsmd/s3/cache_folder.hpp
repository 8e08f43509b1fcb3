// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "storage/descriptor.hpp"

/// A cache's folder, and the names that a cache gives in it: the marker, folders of two hexadecimal digits, in these
/// entries of 62 such digits, and temporary files. Nothing else is ever opened, replaced or removed, and no symbolic
/// link below the folder is followed.
namespace smd::detail::storage::s3 {

/// The marker: a file as backup programs know it (bford.info/cachedir), with a second line of our own.
inline constexpr const char* cache_marker = "CACHEDIR.TAG";

struct CacheFolder {
  Descriptor root;       ///< Open if the folder serves.
  std::string trouble;   ///< Why it does not.
  bool foreign = false;  ///< It holds what is not a cache's. The user named the wrong folder.
};

/// Opens the folder of a cache. Makes it, for this user alone, and those above it if need be. A folder that is there
/// must carry the marker, or be empty: then it gets one. Any number of processes may do so at the same time.
[[nodiscard]] CacheFolder open_cache_folder(const std::string& path);

/// The folder of two digits in which an entry stands; not open, with errno, if there is none, or something else has its
/// name. `make`: it is made if need be.
[[nodiscard]] Descriptor open_entry_folder(int root, const std::string& name, bool make);

/// A temporary file's name that no other process uses, wherever it runs.
[[nodiscard]] std::string temporary_name();

/// Writes all of `text` into `folder` as the file `temporary`, and renames it to `name`. What has that name and is no
/// regular file stays: an error. Returns 0, or the errno of what failed; then there is no temporary file.
[[nodiscard]] int write_whole(int folder, const std::string& temporary, const std::string& name, std::string_view text);

/// If the entries take more than `most_bytes`, removes those not used for the longest time until an eighth is free; and
/// what a process that died left unfinished an hour ago. What other processes remove meanwhile is no trouble.
void make_room(int root, std::uint64_t most_bytes);

}  // namespace smd::detail::storage::s3
