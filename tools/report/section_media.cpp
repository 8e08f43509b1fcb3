// SPDX-License-Identifier: Apache-2.0
// Pictures and text that the job logged: the first and the last of each tag.
#include "cli/escape.hpp"
#include "cli/text.hpp"
#include "draw/png.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <fmt/format.h>

namespace smd::tool::report {

namespace {

std::string media_html(const LoggedMedia& media, const std::string& label) {
  const std::string caption =
      fmt::format("<p class=\"remark\">{}{}, step {}</p>\n", label, name_html(media.tensor), media.step.value);
  if (!media.picture.empty()) {
    return fmt::format("<div>{}<img src=\"data:image/{};base64,{}\" alt=\"\"></div>\n", caption,
                       media.picture == "jpg" ? "jpeg" : media.picture, base64(media.bytes));
  }
  std::string_view text = media.bytes;
  text.remove_suffix(text.ends_with('\n') ? 1 : 0);
  const std::string lines =  // which stay lines
      joined(split(text, "\n"), "", [](std::string_view line) { return xml(displayable(line)) + "\n"; });
  return fmt::format("<div>{}<pre class=\"command\">{}</pre></div>\n", caption, lines);
}

}  // namespace

std::string media_section(const PageContext& page) {
  std::vector<std::string> items;
  for (const TrialReport& trial : page.trials) {
    const std::string label = page.trials.size() > 1 ? name_html(trial.label) + ": " : std::string();
    for (const LoggedMedia& media : trial.media) {
      if (items.size() < most_media) {
        items.push_back(media_html(media, label));
      }
    }
  }
  return figure_grid(std::move(items), most_media, {});
}

}  // namespace smd::tool::report
