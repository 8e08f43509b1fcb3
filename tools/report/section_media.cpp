// SPDX-License-Identifier: Apache-2.0
// Pictures and text that the job logged: the first and the last of each tag.
#include "cli/escape.hpp"
#include "draw/png.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smd::tool::report {

namespace {

std::string media_html(const LoggedMedia& media, const std::string& label) {
  const std::string caption =
      fmt::format("<p class=\"remark\">{}{}, step {}</p>\n", label, name_html(media.tensor), media.step.value);
  if (!media.picture.empty()) {
    return fmt::format("<div>{}<img src=\"data:image/{};base64,{}\" alt=\"\"></div>\n", caption,
                       media.picture == "jpg" ? "jpeg" : media.picture, base64(media.bytes));
  }
  std::string text;
  for (std::string_view rest = media.bytes; !rest.empty();) {  // lines stay lines
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text += xml(displayable(rest.substr(0, end))) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fmt::format("<div>{}<pre class=\"command\">{}</pre></div>\n", caption, text);
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
  return section_html("media", "Pictures and text", figure_grid(std::move(items), most_media, {}));
}

}  // namespace smd::tool::report
