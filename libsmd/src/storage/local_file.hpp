// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <chrono>
#include <memory>
#include <string_view>

#include "storage/local_storage.hpp"

namespace smd::detail::storage {

/// See Storage::open.
[[nodiscard]] Outcome<std::unique_ptr<File>> open_local_file(const Anchor& root, std::string_view name);

/// See Storage::read_once.
[[nodiscard]] bool read_local_once(const Anchor& root, std::string_view name, std::uint64_t offset,
                                   std::span<std::byte> into);

/// See Storage::open_folder.
[[nodiscard]] Outcome<std::unique_ptr<Folder>> open_local_folder(std::shared_ptr<const Anchor> root,
                                                                 std::string_view name);
/// Returns the folder that was opened beneath the root by that name.
[[nodiscard]] std::unique_ptr<Folder> local_folder(std::shared_ptr<const Anchor> root, Descriptor fd,
                                                   std::string_view name);

/// Returns when a file was last written; the nearest time that the clock can show.
[[nodiscard]] std::chrono::system_clock::time_point written_at(const struct stat& status) noexcept;

/// See Storage::file_stamp.
[[nodiscard]] FileStamp file_stamp_from(const struct stat& status) noexcept;

}  // namespace smd::detail::storage
