// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command_line.hpp"
#include "draw/chart.hpp"
#include "rows/output_options.hpp"

namespace smd::tool {

/// The format that is a picture.
inline constexpr std::string_view svg_format = "svg";

/// The options of `-f svg`.
struct PictureOptions {
  ScaleKind scale = ScaleKind::linear;  ///< --log
  std::string title;                    ///< --title; empty: what is drawn says it.

  /// --log --title.
  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError if there are any without -f svg, or what has no picture (--columns, --sort, --limit) with it.
  static PictureOptions from(const CommandLine& line, const OutputOptions& output);
};

/// Writes charts as one SVG document. None: writes nothing.
/// @throws UsageError if there are more than a picture can show; `instead` says what to do about it.
void write_charts(OutputFile& out, std::span<const Chart> charts, const PictureOptions& options,
                  std::string_view instead);

}  // namespace smd::tool
