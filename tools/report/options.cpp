// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "requests/evaluation.hpp"

#include <array>

namespace smd::tool::report {

namespace {

constexpr std::array<std::string_view, 3> color_choices = {"auto", "always", "never"};

constexpr std::array<std::string_view, 3> format_choices = {"html", "md", "json"};

constexpr auto own_options = in_group(
    group::output,
    {
        valued('o', "output", "FILE", ArgumentKind::file,
               "the page; it appears once it is whole (md and json: default standard output)")
            .explained(
                "The file that holds the page. It is required for -f html; -f md and json go to standard output "
                "without it, or with -o -. Without -f, a name that ends in .md or .json is refused. It is written "
                "under a temporary name in the same folder and renamed once it is whole; a file that is there "
                "keeps its mode."),
        valued('f', "format", "FORMAT", ArgumentKind::choice,
               "html (default), or the page in brief: md for people, json for programs")
            .of(format_choices),
        valued(no_letter, "title", "TEXT", ArgumentKind::text,
               "the heading of the page (default: the names of the trials)"),
        flag('0', "null", "trials that standard input lists end with NUL, not with a newline"),
        valued(no_letter, "color", "WHEN", ArgumentKind::choice, "colour messages (default: auto)").of(color_choices),
        flag(no_letter, "ascii", "only ASCII in messages"),
    });

void check(const ReportCommandOptions& options) {
  refuse_if(
      options.format != "html" && (options.following.follow || !options.title.empty()),
      "-f " + options.format + " is the page in brief: without " + (options.following.follow ? "--follow" : "--title"));
  refuse_if(options.file.empty() && options.format == "html",
            "-o FILE is missing: the page is written to a file, such as -o run.html");
  refuse_if(options.file == "-" && options.format == "html",
            "-o: the page is written to a file, not to standard output");
  refuse_if(options.rules.empty() && !options.rules.parameters.empty(), "--param needs a rule: -r RULE");
  const SelectionOptions& selection = options.selection;
  refuse_if(
      selection.incomplete,
      "--incomplete: rules are evaluated at complete steps, and the page shows these; smd-reduce --incomplete prints "
      "numbers of the others");
  refuse_if(options.following.follow && !plain_range(selection) &&
                (selection.steps || selection.modes.size() > 1 || selection.every != 1),
            "--follow takes one mode, or steps as one range of global steps, such as 300:");
}

}  // namespace

std::span<const OptionSpec> ReportCommandOptions::table() noexcept { return own_options; }

ReportCommandOptions ReportCommandOptions::from(const CommandLine& line) {
  ReportCommandOptions options;
  options.operands = line.operands();
  options.selection = SelectionOptions::from(line);
  options.rules = RuleOptions::from(line);
  options.reading = ReadingOptions::from(line);
  options.following = FollowingOptions::from(line);
  options.format = line.value("format").value_or("html");
  options.file = line.value("output").value_or("");
  options.title = line.value("title").value_or("");
  options.null_separated = line.has("null");
  options.quiet = line.has("quiet");
  check(options);
  return options;
}

}  // namespace smd::tool::report
