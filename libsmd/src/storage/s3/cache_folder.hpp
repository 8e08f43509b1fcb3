// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace smd::detail::storage::s3 {

/// Names of files that are not whole yet begin with this.
inline constexpr std::string_view temporary_prefix = "tmp-";

/// Makes a folder for this user alone, and those above it. Returns why it cannot be; empty: it is there.
[[nodiscard]] std::string make_cache_folder(const std::string& folder);

/// If the files in the subfolders of two letters take more than `most_bytes`, removes those not used for the longest
/// time until an eighth is free; and what a process that died left unfinished an hour ago. Links are not followed, and
/// what other processes remove meanwhile is no trouble.
void make_room(const std::string& folder, std::uint64_t most_bytes);

}  // namespace smd::detail::storage::s3
