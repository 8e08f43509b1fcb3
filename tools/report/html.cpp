// SPDX-License-Identifier: Apache-2.0
#include "html.hpp"

#include "cli/escape.hpp"
#include "cli/number_format.hpp"
#include "draw/text_fit.hpp"
#include "text/ascii.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace smd::tool::report {

namespace {

constexpr double widest_name = 90;  // in heights of the font

bool is_plain(char byte) {
  constexpr std::string_view others = "_-./:=,+@%";
  return text::is_alphanumeric(byte) || others.find(byte) != std::string_view::npos;
}

}  // namespace

std::string name_html(std::string_view name) {
  const std::string whole = displayable(name);
  const std::string shown = shortened(name, widest_name);
  const std::string title = shown == whole ? std::string() : fmt::format(" title=\"{}\"", xml(whole));
  return fmt::format("<bdi{}>{}</bdi>", title, xml(shown));
}

std::string table_html(std::string_view caption, std::span<const std::string> header,
                       std::span<const std::vector<HtmlCell>> rows) {
  std::string out =
      fmt::format(R"(<div class="scroll"><table class="sortable"><caption>{}</caption><thead><tr>)", xml(caption));
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool number = !rows.empty() && rows.front()[i].number;
    out += fmt::format("<th scope=\"col\"{}>{}</th>", number ? " class=n" : "", xml(header[i]));
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const std::vector<HtmlCell>& row : rows) {
    out += "<tr>";
    // Most cells are numbers: the others have a class, but for the first.
    for (std::size_t i = 0; i < row.size(); ++i) {
      const HtmlCell& cell = row[i];
      out += fmt::format("<td{}{}>{}</td>", i == 0 || cell.number || cell.html.empty() ? "" : " class=t",
                         cell.sort_key.empty() ? "" : fmt::format(" data-key=\"{}\"", xml(cell.sort_key)), cell.html);
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string details_html(std::string_view summary, std::string_view content) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", summary, content);
}

std::string list_html(std::span<const std::string> items) {
  return "<ul>\n" + joined(items, "", [](const std::string& item) { return fmt::format("<li>{}</li>\n", item); }) +
         "</ul>\n";
}

std::string command_html(std::string_view command) {
  return fmt::format("<pre class=\"command\"><code>{}</code></pre>\n", xml(command));
}

std::string shell_word(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, is_plain)) {
    return std::string(word);
  }
  const auto is_control = [](unsigned char byte) { return byte < 0x20 || byte >= 0x7F; };
  const bool control = std::ranges::any_of(word, is_control);
  std::string quoted = control ? "$'" : "'";
  for (const char byte : word) {
    const auto code = static_cast<unsigned char>(byte);
    if (is_control(code)) {
      quoted += fmt::format("\\x{:02x}", code);
    } else if (byte == '\'') {
      quoted += control ? "\\'" : "'\\''";
    } else if (byte == '\\' && control) {
      quoted += "\\\\";
    } else {
      quoted += byte;
    }
  }
  return quoted + "'";
}

std::string short_text(double number) { return number_text(number, 6); }

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, ",");
  }
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> units = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", amount, units[unit]);
}

}  // namespace smd::tool::report
