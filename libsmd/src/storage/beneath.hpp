// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "text/descriptor.hpp"

/// Opens paths beneath a directory such that nothing outside it can be reached, whatever the path or a symbolic link
/// contains. Links are followed as long as they stay beneath; an absolute link never does.
namespace smd::detail::storage {

enum class Resolve : std::uint8_t {
  kernel,        ///< openat2(2), Linux 5.6 and later.
  by_component,  ///< One openat(2) a component, links read and followed here.
  anywhere,      ///< Links are followed wherever they lead. Only if no name comes from a file's content.
};

/// Returns `kernel` if openat2 works here, else `by_component`: openat2 may be missing, or refused by a sandbox.
[[nodiscard]] Resolve best_resolve(int root) noexcept;

/// Opens `path` with `flags`, O_CLOEXEC and O_NOCTTY. On failure returns no descriptor and sets `errno`: EXDEV if the
/// path leads out. Needs at most two descriptors besides `root`.
[[nodiscard]] Descriptor open_beneath(int root, Resolve resolve, std::string_view path, int flags);

/// Opens a directory with O_PATH; makes it and those above it if they are missing. Fails as `open_beneath` does.
[[nodiscard]] Descriptor make_folder_beneath(int root, Resolve resolve, std::string_view path, mode_t mode);

/// Returns why a path is refused, or an empty text. A path must be relative, without NUL and `..`; the empty path is
/// the root.
[[nodiscard]] std::string_view refuse_path(std::string_view path) noexcept;

}  // namespace smd::detail::storage
