// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include "cli/escape.hpp"
#include "html.hpp"
#include "page_text.hpp"
#include "sections.hpp"
#include "select/selection.hpp"

#include <smd/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace smd::tool::report {

namespace {

// The selection in options that every command takes: smd-rule has no names.
std::string selection_words(const SelectionOptions& selection) {
  std::string words;
  if (selection.steps) {
    const auto text = [](const StepTerm& term) { return term.text; };
    words += fmt::format(" -s {}", shell_word(joined(selection.steps->terms(), ",", text)));
  }
  if (selection.modes_given) {
    words += fmt::format(" -m {}", joined(selection.modes, ",", mode_text));
  }
  if (selection.worker) {
    words += fmt::format(" -w {}", shell_word(*selection.worker));
  }
  return words;
}

std::string title_of(std::span<const TrialReport> trials, const std::string& given) {
  if (!given.empty()) {
    return given;
  }
  const std::string& first = trials.front().name;
  const std::string folder = first.substr(0, first.size() - trials.front().label.size());
  if (trials.size() > 3 && !folder.empty()) {
    return fmt::format("{} trials in {}", trials.size(), folder);
  }
  return joined(trials, ", ", [](const TrialReport& trial) { return trial.name; });
}

// How much of the names is the folder that all are in.
std::size_t common_folder(std::span<const TrialReport> trials) {
  if (trials.size() < 2) {
    return 0;
  }
  std::string_view common = trials.front().name;
  for (const TrialReport& trial : trials) {
    const auto [end, other] = std::mismatch(common.begin(), common.end(), trial.name.begin(), trial.name.end());
    common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
  }
  const std::size_t folder = common.rfind('/') + 1;
  const bool whole =
      std::ranges::any_of(trials, [folder](const TrialReport& trial) { return trial.name.size() == folder; });
  return whole ? 0 : folder;
}

// Permits only the page's style and script, and images that are part of the page.
constexpr std::string_view policy =
    "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; "
    "form-action 'none'";

struct Part {
  std::string_view anchor;
  std::string_view name;          // in the links to the sections
  std::string html;               // empty: there is nothing to show
  std::string_view heading = {};  // empty: the name
};

std::string section_html(const Part& part) {
  return part.html.empty()
             ? std::string()
             : fmt::format(
                   "<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n<h2 id=\"{0}-heading\">{1}</h2>\n{2}"
                   "</section>\n",
                   part.anchor, part.heading.empty() ? part.name : part.heading, part.html);
}

}  // namespace

std::string page_html(std::span<TrialReport> trials, const ReportCommandOptions& options,
                      std::optional<std::chrono::milliseconds> reload) {
  const std::size_t folder = common_folder(trials);
  for (TrialReport& trial : trials) {
    trial.label = trial.name.substr(folder);
  }
  Figures figures(trials);
  const std::string operands = joined(trials, " ", [](const TrialReport& trial) { return shell_word(trial.name); });
  const std::string every =
      options.selection.every == 1 ? std::string() : fmt::format(" --every {}", options.selection.every);
  const PageContext page = {trials, figures, every, operands, selection_words(options.selection)};
  // Figures first: links to them need their numbers.
  LossSection losses = losses_section(page);
  std::array<Part, 12> parts = {
      {{"runs", "The trials", runs_section(page)},
       {"trial", "What it is", {}, trials.size() > 1 ? "What they are" : ""},
       {"rules", "Rules", {}},
       {"more-losses", "Losses", std::move(losses.rest), losses.first.empty() ? "" : "More losses"},
       {"scalars", "Scalars", scalars_section(page), "Other scalars"},
       {"norms", "Gradients and weights", norms_section(page)},
       {"distributions", "Distributions", distributions_section(page)},
       {"activations", "Activations", activations_section(page)},
       {"workers", "Workers", workers_section(page)},
       {"media", "Pictures and text", media_section(page)},
       {"tensors", "Tensors", tensors_section(page)},
       {"commands", "Commands", commands_section(page)}}};
  parts[1].html = trial_section(page);
  parts[2].html = rules_section(page);
  const std::string title = title_of(trials, options.title);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"generator\" content=\"smd-report (libsmd) "
      "{}\">\n",
      fmt::format(policy, page_text::style_digest, page_text::script_digest), SMD_VERSION_STRING);
  if (reload) {
    const auto seconds = std::max<std::int64_t>(std::chrono::ceil<std::chrono::seconds>(*reload).count(), 1);
    out += fmt::format("<meta http-equiv=\"refresh\" content=\"{}\">\n", seconds);
  }
  out += fmt::format("<title>{}</title>\n<style>{}{}</style>\n</head>\n<body{}>\n<header>\n<h1>{}</h1>\n", xml(title),
                     page_text::page_css, page_text::chart_css, trials.size() > 1 ? " class=\"several\"" : "",
                     name_html(title));
  out += reload ? "<p class=\"quiet\">The job is running: this page follows it.</p>\n" : "";
  const std::string links = joined(parts, "", [](const Part& part) {
    return part.html.empty() ? std::string() : fmt::format("<a href=\"#{}\">{}</a>\n", part.anchor, part.name);
  });
  out += fmt::format("<nav aria-label=\"Sections\">\n{}</nav>\n", links);
  out += fmt::format("</header>\n<main>\n{}<div class=\"first\">\n<div id=\"health\">\n{}</div>\n",
                     section_html(parts.front()), health_html(page));
  if (!losses.first.empty()) {
    out += fmt::format("<div id=\"losses\">\n{}</div>\n", losses.first);
  }
  out += "</div>\n" + joined(std::span(parts).subspan(1), "", section_html);
  out += fmt::format("</main>\n<footer><p>smd-report (libsmd) {}</p></footer>\n<script>{}</script>\n</body>\n</html>\n",
                     SMD_VERSION_STRING, page_text::page_js);
  return out;
}

}  // namespace smd::tool::report
