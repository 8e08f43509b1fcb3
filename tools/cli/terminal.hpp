// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace smd::tool {

enum class ColorChoice : std::uint8_t { automatic, always, never };

/// Whether a file descriptor is a terminal.
[[nodiscard]] bool is_terminal(int descriptor) noexcept;

/// Columns of the terminal behind a descriptor: as the system says, else COLUMNS, else 80. At least 20.
[[nodiscard]] std::size_t terminal_width(int descriptor) noexcept;

/// Lines of the terminal behind a descriptor: as the system says, else LINES, else 24. At least 2.
[[nodiscard]] std::size_t terminal_height(int descriptor) noexcept;

/// Whether the environment says that terminals show UTF-8: the first non-empty of LC_ALL, LC_CTYPE, LANG, by its text.
[[nodiscard]] bool locale_is_utf8() noexcept;

/// Whether to colour what goes to a descriptor. Automatic: a terminal, TERM is not `dumb`, NO_COLOR not set (or empty).
[[nodiscard]] bool use_color(ColorChoice choice, int descriptor) noexcept;

}  // namespace smd::tool
