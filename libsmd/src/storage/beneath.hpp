// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "storage/descriptor.hpp"

/// Opening a path beneath a directory such that nothing outside it can be reached, whatever the path or any symbolic
/// link on its way says. Links are followed as long as they stay beneath; an absolute one never does.
namespace smd::detail::storage {

enum class Resolve : std::uint8_t {
  kernel,        ///< openat2(2), Linux 5.6 and later.
  by_component,  ///< One openat(2) a component, links read and followed here.
  anywhere,      ///< Links are followed wherever they lead: where no name comes from a file's content.
};

/// The best that works here: openat2 may be missing, or refused by a sandbox.
[[nodiscard]] Resolve best_resolve(int root) noexcept;

/// Opens with `flags` (O_CLOEXEC and O_NOCTTY are added). No descriptor: `errno` says why; EXDEV when the path leads
/// out. Needs at most two descriptors besides `root`.
[[nodiscard]] Descriptor open_beneath(int root, Resolve resolve, std::string_view path, int flags);

/// Opens a directory by O_PATH; it and those above it are made where they are missing. No descriptor: as
/// `open_beneath`.
[[nodiscard]] Descriptor make_folder_beneath(int root, Resolve resolve, std::string_view path, mode_t mode);

/// Whether a path can be asked for at all: relative, no NUL, no `..`. The empty path can, as the root.
/// @return why not, or empty.
[[nodiscard]] std::string_view refuse_path(std::string_view path) noexcept;

}  // namespace smd::detail::storage
