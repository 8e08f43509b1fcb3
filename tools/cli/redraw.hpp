// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"

namespace smd::tool {

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

}  // namespace smd::tool
