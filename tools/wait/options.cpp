// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/text.hpp"
#include "text/number.hpp"

#include <array>
#include <limits>

namespace smd::tool::wait {

namespace {

constexpr std::string_view conditions = "Conditions";
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

/// An option that adds conditions.
constexpr OptionSpec adding(char short_name, std::string_view name, std::string_view metavar, std::string_view help,
                            ArgumentKind kind, bool split_commas = false) {
  return {.short_name = short_name,
          .name = name,
          .metavar = metavar,
          .help = help,
          .group = conditions,
          .kind = kind,
          .repeat = Repeat::adds_up,
          .split_commas = split_commas};
}

constexpr std::array<OptionSpec, 10> own_options = {{
    adding('s', "step", "STEP[,STEP]", "these steps can be read; counted in the mode", ArgumentKind::step_number, true),
    adding('n', "name", "NAME", "a tensor of exactly this name was saved, at the steps of -s, else at any",
           ArgumentKind::tensor),
    adding('e', "regex", "RE", "a tensor in whose name RE (PCRE2) is found was saved, at these steps",
           ArgumentKind::pattern),
    adding('c', "collection", "NAME", "a tensor of this collection was saved, at these steps",
           ArgumentKind::collection),
    {.name = "after",
     .metavar = "N",
     .help = "a step after step N can be read; --columns step prints it, with -m --columns mode_step",
     .group = conditions,
     .kind = ArgumentKind::number},
    {.name = "count", .metavar = "N", .help = "N steps can be read", .group = conditions, .kind = ArgumentKind::number},
    {.name = "until",
     .metavar = "'NAME OP NUMBER'",
     .help = "a value of this scalar is so: OP is one of < <= > >= = !=",
     .group = conditions,
     .kind = ArgumentKind::text,
     .repeat = Repeat::adds_up,
     .manual =
         "Some value of this scalar, from the first one on, is so, as in 'val/loss < 0.5'. OP is one of < <= > >= = "
         "!=; the last one with a blank on either side splits, and the blanks may be left out where there is one. "
         "NaN meets only !=."},
    {.name = "end", .help = "the job is over", .group = conditions},
    {.name = "any", .help = "one of the conditions is enough (default: all)", .group = conditions},
    adding('m', "mode", "M[,M]", "steps of these modes: train, eval, predict or global (default: global, all steps)",
           ArgumentKind::mode, true),
}};

}  // namespace

std::span<const OptionSpec> WaitCommandOptions::table() noexcept { return own_options; }

WaitCommandOptions WaitCommandOptions::from(const CommandLine& line) {
  WaitCommandOptions options;
  options.operands = line.operands();
  options.steps = line.convert_all("step", [](const std::string& text) { return parse_integer(text, 0, largest); });
  options.selection.names = line.values("name");
  options.selection.regexes = line.values("regex");
  options.selection.collections = line.values("collection");
  options.selection.modes = modes_from(line);
  options.after = line.convert("after", [](const std::string& text) { return parse_integer(text, -largest, largest); });
  options.count = line.convert("count", [](const std::string& text) { return parse_integer(text, 1, largest); });
  options.until = line.convert_all("until", [](const std::string& text) {
    Comparison comparison = parse_comparison(text);
    if (comparison.relation == Relation::matches || !text::number_of(comparison.value)) {
      throw InvalidValue(single_quoted(text) + " is not NAME OP NUMBER, with OP one of < <= > >= = !=");
    }
    return comparison;
  });
  options.end = line.has("end");
  options.any = line.has("any");
  options.waiting = FollowingOptions::from(line);
  options.output = OutputOptions::from(line);
  options.reading = ReadingOptions::from(line);
  if (options.operands.empty()) {
    throw UsageError("TRIAL is missing");
  }
  return options;
}

}  // namespace smd::tool::wait
