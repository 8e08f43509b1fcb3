// SPDX-License-Identifier: Apache-2.0
#include "rows/picture_options.hpp"

#include "draw/svg.hpp"

#include <fmt/format.h>

#include <utility>

namespace smd::tool {

namespace {

constexpr std::size_t most_charts = 64;

constexpr auto picture_table = in_group(
    group::output, {
                       flag(no_letter, "log", "with -f svg: a logarithmic axis")
                           .explained("With -f svg: the numbers use a logarithmic axis. Zeros and negative numbers "
                                      "cannot be shown on it and are marked at the lower edge."),
                       valued(no_letter, "title", "TEXT", ArgumentKind::text, "with -f svg: a heading for the picture"),
                   });

}  // namespace

std::span<const OptionSpec> PictureOptions::table() noexcept { return picture_table; }

PictureOptions PictureOptions::from(const CommandLine& line, const OutputOptions& output) {
  PictureOptions options;
  if (output.format != svg_format) {
    for (const OptionSpec& option : picture_table) {
      refuse_if(line.has(option.name), fmt::format("--{} needs -f svg", option.name));
    }
    return options;
  }
  refuse_if(output.asks_for_rows(), fmt::format("{}: there are no rows in -f svg", output.row_option()));
  options.scale = line.has("log") ? ScaleKind::logarithmic : ScaleKind::linear;
  options.title = line.value("title").value_or("");
  return options;
}

ShowOptions ShowOptions::from(const CommandLine& line) {
  ShowOptions options;
  options.operands = line.operands();
  options.selection = SelectionOptions::from(line);
  options.output = OutputOptions::from(line);
  options.picture = PictureOptions::from(line, options.output);
  options.reading = ReadingOptions::from(line);
  options.slice = line.convert("slice", SliceSpec::parse);
  options.bins = line.convert("bins", BinSpec::parse).value_or(BinSpec());
  options.smooth = line.convert("smooth", smoothing_weight);
  return options;
}

void say_nothing_drawn(Diagnostics& messages) {
  messages.nothing("NotFound", "nothing that is selected can be drawn: no picture was written");
}

PictureOutput::PictureOutput(OutputFile file, const OutputOptions& output) : file_(std::move(file)) {
  if (output.format == svg_format) {
    memory_.emplace(OutputFile::memory());
  }
}

void PictureOutput::close(Diagnostics& messages) {
  if (memory_) {
    const std::string text = memory_->take_text();
    if (text.empty()) {
      if (messages.status() == ExitStatus::yes) {
        say_nothing_drawn(messages);
      }
      return;
    }
    file_.write(text);
  }
  file_.close(messages);
}

void write_charts(OutputFile& out, std::span<const Chart> charts, const PictureOptions& options,
                  std::string_view instead) {
  refuse_if(charts.size() > most_charts,
            fmt::format("-f svg: {} charts are too many for one picture, which shows {}: {}", charts.size(),
                        most_charts, instead));
  if (!charts.empty()) {
    out.write(svg_document(charts, options.title));
  }
}

}  // namespace smd::tool
