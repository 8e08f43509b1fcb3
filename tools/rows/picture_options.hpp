// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "draw/bins.hpp"
#include "draw/chart.hpp"
#include "operands/reading_options.hpp"
#include "rows/output_options.hpp"
#include "select/selection.hpp"
#include "select/slice.hpp"

namespace smd::tool {

/// The format that is a picture.
inline constexpr std::string_view svg_format = "svg";

/// The formats of rows, and svg.
[[nodiscard]] std::span<const std::string_view> row_and_picture_format_names() noexcept;

/// The options of `-f svg`.
struct PictureOptions {
  ScaleKind scale = ScaleKind::linear;  ///< --log
  std::string title;                    ///< --title; empty: made from what is drawn.

  /// --log --title.
  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError if any is given without -f svg, or if -f svg is given with --columns, --sort or --limit.
  static PictureOptions from(const CommandLine& line, const OutputOptions& output);
};

/// The options in common of commands that show values of trials, as rows or as a picture. What a command has no option
/// for keeps its default.
struct ShowOptions {
  std::vector<std::string> operands;  ///< As given.
  SelectionOptions selection;
  OutputOptions output;
  PictureOptions picture;
  ReadingOptions reading;
  std::optional<SliceSpec> slice;
  BinSpec bins;
  std::optional<double> smooth;  ///< --smooth

  /// @throws UsageError.
  static ShowOptions from(const CommandLine& line);

  [[nodiscard]] bool svg() const noexcept { return output.format == svg_format; }
  /// Whether rows show what came before the selected steps.
  [[nodiscard]] bool needs_whole_series() const noexcept { return smooth || output.names("elapsed"); }
};

/// Where a command writes results that may be a picture: straight to a file or, with -f svg, to memory until it is
/// known that there is something to draw.
class PictureOutput {
 public:
  PictureOutput(OutputFile file, const OutputOptions& output);

  [[nodiscard]] OutputFile& to() noexcept { return memory_ ? *memory_ : file_; }
  /// Closes the file as `OutputFile::close` does. If nothing was drawn, an existing file stays, and a message says so
  /// unless the status has a reason already.
  void close(Diagnostics& messages);

 private:
  OutputFile file_;
  std::optional<OutputFile> memory_;
};

/// Reports, with status 1, that there was nothing to draw.
void say_nothing_drawn(Diagnostics& messages);

/// Writes charts as one SVG document; writes nothing if there are none.
/// @throws UsageError if there are more than a picture can show; `instead` says what to do about it.
void write_charts(OutputFile& out, std::span<const Chart> charts, const PictureOptions& options,
                  std::string_view instead);

}  // namespace smd::tool
