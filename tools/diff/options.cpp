// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/text.hpp"
#include "text/number.hpp"
#include "text/pattern.hpp"

#include <cmath>

namespace smd::tool::diff {

namespace {

constexpr auto own_options = in_group(
    group::view,
    {
        valued(no_letter, "steps-b", "SPEC", ArgumentKind::step,
               "steps of B, as --step takes them; the first is compared with the first of A's, and so on")
            .under(group::selection),
        valued(no_letter, "rtol", "R", ArgumentKind::number,
               "elements differ unless |a - b| <= atol + rtol |b| (default: 0)"),
        valued(no_letter, "atol", "A", ArgumentKind::number, "the absolute part of this tolerance (default: 0)")
            .explained("The absolute part of the tolerance: elements differ unless |a - b| <= atol + rtol |b|. The "
                       "default is 0."),
        flag(no_letter, "no-equal-nan", "NaN differs from NaN"),
        flag(no_letter, "ignore-dtype", "compare numbers alone: another element type is no difference"),
        flag(no_letter, "common", "of shapes that differ in sizes only, compare the part that both have")
            .explained("Of values whose shapes differ in sizes only, compare the leading part along each axis that "
                       "both have: the first rows of an embedding that has grown. The state is shape all the same."),
        valued(no_letter, "strip", "PREFIX", ArgumentKind::text,
               "take PREFIX off names that begin with it, in both: module., _orig_mod., base_model.model.")
            .repeatable()
            .under(group::selection),
        valued(no_letter, "rename", "'RE=TO'", ArgumentKind::text,
               "in names of A, put TO in the place of what RE (PCRE2) matches; $1 is a group")
            .repeatable()
            .explained("In names of A, put TO in the place of each match of RE (PCRE2); $1 stands for a group. The "
                       "last = splits. -n, -e and the like choose by the names as they were saved. Two tensors of one "
                       "trial that get one name are refused.")
            .under(group::selection),
        by_option,
        flag(no_letter, "all", "print equal values too"),
        flag(no_letter, "summary", "one row: how many tensors are equal, differ, or are in one only"),
    });

double parse_tolerance(const std::string& text) {
  const auto number = text::number_of(text);
  invalid_if(!number || !std::isfinite(*number) || *number < 0,
             single_quoted(text) + " is not a finite number from 0 on");
  return *number;
}

Renaming parse_renaming(const std::string& text) {
  const std::size_t split = text.rfind('=');
  invalid_if(split == std::string::npos || split == 0, single_quoted(text) + " is not RE=TO");
  const auto substitution = std::make_shared<detail::Substitution>();
  if (const auto error =
          substitution->compile(std::string_view(text).substr(0, split), std::string_view(text).substr(split + 1))) {
    throw InvalidValue(single_quoted(text) + ": " + *error);
  }
  return {text, substitution};
}

/// `smd-diff A -s N,M`: the first is A's step, the second B's.
void part_steps(DiffCommandOptions& options) {
  const std::vector<StepTerm> terms = options.selection.steps.value_or(StepSpec()).terms();
  refuse_if(terms.size() != 2 || !terms[0].single || !terms[1].single,
            "of one trial, name two steps to compare: -s N,M (or -s and --steps-b); else name two trials");
  options.selection.steps = StepSpec({terms[0]});
  options.steps_b = StepSpec({terms[1]});
}

}  // namespace

std::span<const OptionSpec> DiffCommandOptions::table() noexcept { return own_options; }

DiffCommandOptions DiffCommandOptions::from(const CommandLine& line) {
  DiffCommandOptions options;
  static_cast<ShowOptions&>(options) = ShowOptions::from(line);
  options.steps_b = line.convert("steps-b", StepSpec::parse);
  options.rtol = line.convert("rtol", parse_tolerance).value_or(0);
  options.atol = line.convert("atol", parse_tolerance).value_or(0);
  options.equal_nan = !line.has("no-equal-nan");
  options.ignore_dtype = line.has("ignore-dtype");
  options.common = line.has("common");
  options.strip = line.values("strip");
  options.rename = line.convert_all("rename", parse_renaming);
  options.by = By::from(line);
  options.all = line.has("all");
  options.summary = line.has("summary");
  refuse_if(options.operands.empty(), "the trials are missing");
  if (options.operands.size() == 1 && options.operands.front() != "-" && !options.steps_b) {
    part_steps(options);
  }
  refuse_if(options.steps_b && !options.selection.steps, "--steps-b needs -s: A's steps are matched with B's in order");
  refuse_if(options.summary && !(options.by.tensor && options.by.step),
            "--summary counts tensors and names the first step: --by must have both");
  refuse_if(options.svg() && (options.summary || !options.by.step),
            options.summary ? "--summary is one row: -f svg draws curves without it"
                            : "-f svg draws curves over steps: --by must have step");
  return options;
}

}  // namespace smd::tool::diff
