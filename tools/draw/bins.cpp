// SPDX-License-Identifier: Apache-2.0
#include "draw/bins.hpp"

#include "cli/command_line.hpp"
#include "cli/mapped.hpp"
#include "cli/number_format.hpp"
#include "cli/text.hpp"
#include "text/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace smd::tool {

namespace {

constexpr std::int64_t most_bins = 1'000'000;

double parse_edge(std::string_view text) {
  const auto number = text::number_of(text);
  invalid_if(!number || !std::isfinite(*number), single_quoted(text) + " is not a finite number");
  return *number;
}

// A bar that is `eighths` eighths of a column long.
std::string bar(std::uint64_t eighths, bool ascii) {
  if (ascii) {
    return std::string((eighths + 4) / 8, '#');
  }
  constexpr std::array<std::string_view, 8> parts = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string text;
  for (; eighths >= 8; eighths -= 8) {
    text += "█";
  }
  return text += parts[eighths];
}

}  // namespace

BinSpec BinSpec::parse(std::string_view text) {
  BinSpec bins;
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string_view::npos ? first : text.find(':', first + 1);
  invalid_if(first != std::string_view::npos && second == std::string_view::npos,
             single_quoted(text) + " is neither N nor N:LO:HI");
  bins.count = static_cast<std::uint64_t>(parse_integer(text.substr(0, first), 1, most_bins));
  if (second != std::string_view::npos) {
    bins.low = parse_edge(text.substr(first + 1, second - first - 1));
    bins.high = parse_edge(text.substr(second + 1));
    invalid_if(!(*bins.low <= *bins.high), "HI must not lie below LO in " + single_quoted(text));
  }
  return bins;
}

std::string bars(const std::vector<double>& edges, const std::vector<double>& counts, int precision, std::size_t width,
                 bool ascii) {
  std::string text;
  const auto bounds = mapped(edges, [&](double edge) { return number_text(edge, precision); });
  const auto numbers = mapped(counts, [&](double count) { return whole_number_text(count, precision); });
  const std::size_t bound_width = std::ranges::max(bounds, {}, std::ranges::size).size();
  const std::size_t count_width = std::ranges::max(numbers, {}, std::ranges::size).size();
  const double most = *std::ranges::max_element(counts);
  const std::size_t beside = 2 * bound_width + count_width + 9;
  const std::uint64_t room = std::min<std::size_t>(60, width > beside + 10 ? width - beside : 10);
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    text += fmt::format("  {:>{}} .. {:>{}}  {:>{}}", bounds[bin], bound_width, bounds[bin + 1], bound_width,
                        numbers[bin], count_width);
    if (counts[bin] != 0) {
      // A bin that is not empty always shows.
      const auto eighths = static_cast<std::uint64_t>(counts[bin] / most * static_cast<double>(room) * 8);
      text += " " + bar(std::max<std::uint64_t>(eighths, ascii ? 4 : 1), ascii);
    }
    text += '\n';
  }
  return text;
}

}  // namespace smd::tool
