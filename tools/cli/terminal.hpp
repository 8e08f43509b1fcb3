// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace smd::tool {

/// Whether a file descriptor is a terminal.
[[nodiscard]] bool is_terminal(int descriptor) noexcept;

/// Columns of the terminal behind a descriptor: as the system says, else COLUMNS, else 80. At least 20.
[[nodiscard]] std::size_t terminal_width(int descriptor) noexcept;

/// Whether to colour what goes to a descriptor: as `wanted`; if that is nullopt, on a terminal, unless TERM is `dumb`
/// or NO_COLOR is set (and not empty).
[[nodiscard]] bool use_color(std::optional<bool> wanted, int descriptor) noexcept;

/// How results and messages look on a terminal.
struct TerminalOptions {
  std::optional<bool> color = {};  ///< --color; nullopt: auto.
  bool ascii = false;              ///< --ascii, or the locale is not UTF-8.

  static TerminalOptions from(const CommandLine& line);
};

/// Shows a text on the terminal of standard output, each time in the place of the one before, as long as nothing else
/// was written there. Lines that do not fit the height are left out, and counted.
class Redraw {
 public:
  /// Both must outlive this.
  Redraw(OutputFile& out, const Diagnostics& messages) : out_(out), messages_(messages) {}

  /// `text`: whole lines, made for the terminal's width.
  void show(const std::string& text);

 private:
  OutputFile& out_;
  const Diagnostics& messages_;
  std::vector<std::size_t> widths_;  // of the lines shown
  std::size_t said_ = 0;             // how many messages were written before them
};

/// Whether bytes for standard output were lost at a place that could not report it.
[[nodiscard]] bool standard_output_failed() noexcept;

}  // namespace smd::tool
