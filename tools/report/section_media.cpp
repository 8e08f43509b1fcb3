// SPDX-License-Identifier: Apache-2.0
// Pictures and text that the job logged: the first and the last of each tag.
#include "cli/escape.hpp"
#include "cli/text.hpp"
#include "draw/png.hpp"
#include "html.hpp"
#include "rows/elements.hpp"
#include "sections.hpp"
#include "select/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace smd::tool::report {

namespace {

constexpr std::size_t most_media = 24;
constexpr std::uint64_t largest_record = std::uint64_t{1} << 20;
constexpr std::size_t longest_text = 2000;

bool is_picture(std::string_view extension) { return !extension.empty() && extension != "wav"; }

std::string media_html(const LoggedMedia& media, const std::string& label) {
  const std::string caption =
      fmt::format("<p class=\"remark\">{}{}, step {}</p>\n", label, name_html(media.tensor), media.step.value);
  const std::string_view extension = media_extension(media.bytes);
  if (is_picture(extension)) {
    return fmt::format("<div>{}<img src=\"data:image/{};base64,{}\" alt=\"\"></div>\n", caption,
                       extension == "jpg" ? "jpeg" : extension, base64(media.bytes));
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

std::vector<LoggedMedia> logged_media(const Trial& trial, const SelectionOptions& selection,
                                      const EvaluationOptions& steps) {
  std::vector<std::string> collections;
  for (const char* const name : {"images", "text"}) {
    if (trial.collection(name)) {
      collections.emplace_back(name);
    }
  }
  if (collections.empty()) {
    return {};
  }
  std::vector<std::string> tensors = trial.tensor_names({.collections = collections, .exclude = selection.excludes});
  if (selection.selects_tensors()) {
    const std::vector<std::string> chosen = tensors_at(trial, selection, std::nullopt);
    std::erase_if(tensors, [&](const std::string& name) {
      return std::find(chosen.begin(), chosen.end(), name) == chosen.end();
    });
  }
  tensors.resize(std::min(tensors.size(), most_media));
  std::map<std::string, std::vector<std::pair<GlobalStep, Place>>, std::less<>>
      ends;  // of each, the first and the last
  EntryQuery query = {.tensors = tensors, .steps = steps.steps, .mode = steps.mode, .workers = steps.workers};
  query.first_worker_only = true;
  trial.for_each_entry(query, [&](const TensorEntry& entry) {
    const bool within = (!steps.start || entry.step >= *steps.start) && (!steps.end || entry.step < *steps.end);
    if (within && entry.value && entry.value->length <= largest_record) {
      auto& of = ends[std::string(entry.tensor)];
      of.resize(std::min<std::size_t>(of.size(), 1));
      of.emplace_back(entry.step, *entry.value);
    }
    return true;
  });
  std::vector<LoggedMedia> media;
  std::vector<WantedValue> wanted;
  for (const std::string& tensor : tensors) {
    for (const auto& [step, place] : ends[tensor]) {
      if (media.size() < most_media) {
        media.push_back({.tensor = tensor, .step = step});
        wanted.push_back({place, tensor});
      }
    }
  }
  trial.read(wanted, [&](std::size_t i, ReadResult&& result) {
    if (result.value && result.value->dtype() == Dtype::string) {
      const std::vector<std::string_view> texts = strings(result.value->view());
      // Beside a picture stand its width and height, as text.
      const auto picture = std::find_if(texts.begin(), texts.end(),
                                        [](std::string_view text) { return is_picture(media_extension(text)); });
      if (picture != texts.end()) {
        media[i].bytes = *picture;
      } else if (texts.size() == 1 && is_utf8(texts.front())) {
        media[i].bytes = texts.front().substr(0, longest_text);
      }
    }
    return true;
  });
  std::erase_if(media, [](const LoggedMedia& one) { return one.bytes.empty(); });
  return media;
}

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
  return section_html("media", "Pictures and text", figure_grid(items, items.size(), {}));
}

}  // namespace smd::tool::report
