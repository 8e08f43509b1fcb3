// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/text.hpp"
#include "text/number.hpp"

namespace smd::tool::wait {

namespace {

constexpr std::string_view conditions = "Conditions";

constexpr auto own_options = in_group(
    conditions,
    {
        valued('s', "step", "STEP[,STEP]", ArgumentKind::step_number, "these steps can be read; counted in the mode")
            .list(),
        valued('n', "name", "NAME", ArgumentKind::tensor,
               "a tensor of exactly this name was saved, at the steps of -s, else at any")
            .repeatable(),
        valued('e', "regex", "RE", ArgumentKind::pattern,
               "a tensor in whose name RE (PCRE2) is found was saved, at these steps")
            .repeatable(),
        valued('c', "collection", "NAME", ArgumentKind::collection,
               "a tensor of this collection was saved, at these steps")
            .repeatable(),
        valued(no_letter, "after", "N", ArgumentKind::number,
               "a step after step N can be read; --columns step prints it (with -m: --columns mode_step)"),
        valued(no_letter, "count", "N", ArgumentKind::number, "N steps can be read"),
        valued(no_letter, "until", "'NAME OP NUMBER'", ArgumentKind::tensor,
               "a value of this scalar meets this; OP is one of < <= > >= = !=")
            .repeatable()
            .explained("Some value of this scalar, from the first one on, meets this, as in 'val/loss < 0.5'. OP is "
                       "one of < <= > >= = !=; the last one between blanks separates NAME from NUMBER, and if there "
                       "is only one, it needs no blanks. NaN meets only !=."),
        flag(no_letter, "end", "the job is over"),
        flag(no_letter, "any", "one of the conditions is enough (default: all)"),
        valued('m', "mode", "M[,M]", ArgumentKind::mode,
               "steps of these modes: train, eval, predict or global (default: global, all steps)")
            .list(),
    });

}  // namespace

std::span<const OptionSpec> WaitCommandOptions::table() noexcept { return own_options; }

WaitCommandOptions WaitCommandOptions::from(const CommandLine& line) {
  WaitCommandOptions options;
  options.operands = line.operands();
  options.steps = line.convert_all("step", [](const std::string& text) { return parse_integer(text, 0, INT64_MAX); });
  options.selection.names = line.values("name");
  options.selection.regexes = line.values("regex");
  options.selection.collections = line.values("collection");
  options.selection.modes = modes_from(line);
  options.after =
      line.convert("after", [](const std::string& text) { return parse_integer(text, -INT64_MAX, INT64_MAX); });
  options.count = line.convert("count", [](const std::string& text) { return parse_integer(text, 1, INT64_MAX); });
  options.until = line.convert_all("until", [](const std::string& text) {
    constexpr std::string_view form = "NAME OP NUMBER, with OP one of < <= > >= = !=";
    Comparison comparison = parse_comparison(text, form);
    invalid_if(comparison.relation == Relation::matches || !text::number_of(comparison.value),
               single_quoted(text) + " is not " + std::string(form));
    return comparison;
  });
  options.end = line.has("end");
  if (line.has("mode") && options.steps.empty() && !options.after && options.until.empty() && !options.end &&
      !options.selection.selects_tensors()) {
    options.count = options.count.value_or(1);  // a step of that mode
  }
  options.any = line.has("any");
  options.waiting = FollowingOptions::from(line);
  options.output = OutputOptions::from(line);
  options.reading = ReadingOptions::from(line);
  return options;
}

}  // namespace smd::tool::wait
