// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "cli/mapped.hpp"
#include "cli/option_hints.hpp"
#include "cli/terminal.hpp"
#include "operands/operands.hpp"
#include "view.hpp"

namespace smd::tool::ls {
namespace {

/// The view asked for. @throws UsageError if there are two.
const ViewSpec& view_of(const CommandLine& line) {
  const ViewSpec* chosen = nullptr;
  for (const ViewSpec* const view : views()) {
    if (view->option.empty() || !(line.has(view->option) || (view == &summary_view && line.has("get")))) {
      continue;
    }
    if (chosen != nullptr) {
      throw UsageError("--" + std::string(chosen->option) + " and --" + std::string(view->option) +
                       ": one view at a time");
    }
    chosen = view;
  }
  return chosen != nullptr ? *chosen : names_view;
}

/// The first selection option on the command line; null if there is none.
const OptionSpec* selection_option(const CommandLine& line) {
  const auto selects = [](const GivenOption& given) {
    return contains(mapped(SelectionOptions::table(), &OptionSpec::name), given.spec->name) ||
           contains(mapped(SelectionOptions::name_table(), &OptionSpec::name), given.spec->name);
  };
  const auto first = std::ranges::find_if(line.given(), selects);
  return first == line.given().end() ? nullptr : first->spec;
}

constexpr std::array<std::string_view, 1> tree_groups = {"dtype"};

}  // namespace

std::span<const OptionSpec> LsOptions::table() noexcept {
  static const auto table = in_group(
      group::view,
      {
          flag('l', "long", "all columns, and each tensor's dtype; with --steps, the time of each step"),
          flag(no_letter, "tree", "names split at '/' and '.', with counts, parameters and bytes")
              .explained("Names split at / and ., in natural order, each level with its tensors, parameters and bytes. "
                         "Parameters are the elements of each tensor at its last step, in checkpoints; bytes are those "
                         "of all selected steps. Only headers and the index are read."),
          valued(no_letter, "depth", "N", ArgumentKind::number, "with --tree, only the first N levels"),
          valued(no_letter, "by", "WHAT", ArgumentKind::choice, "with --tree, group by something else than the path")
              .of(tree_groups),
          flag(no_letter, "steps", "one line per step; --follow goes with this view only"),
          flag(no_letter, "modes", "one line per mode, such as train"),
          flag(no_letter, "workers", "one line per worker")
              .explained("One line per worker: those that have a collections file, and those known from index files "
                         "only, which a note names. Values of both can be read with -w."),
          flag(no_letter, "collections", "collections as the job configured them, and how much of each was saved"),
          flag(no_letter, "hparams", "the hyperparameters that the job saved"),
          flag(no_letter, "summary", "the trial at a glance"),
          valued(no_letter, "get", "KEY", ArgumentKind::text, "print one bare value of the summary")
              .of(summary_keys())
              .explained("Print one bare value of the summary: the value of KEY."),
          flag(no_letter, "locations", "the place of each record: file, offset, length"),
          flag(no_letter, "check", "read everything and list what is wrong; status 4 if something is damaged"),
          flag(no_letter, "find", "list the trials at and below the operands")
              .explained(
                  "List the trials at and below the operands, in the order of their paths; also those in another "
                  "trial, but not what a trial reads. Symbolic links are followed, and each folder is visited once; a "
                  "link to a folder that it lies in, or into /proc, /sys and /dev, is not followed, and is named. A "
                  "search ends after 100,000 folders or a million names, with a warning. A folder that cannot be "
                  "entered, without permission or with a path longer than the system allows, is named, with status 3; "
                  "what lies elsewhere is listed. Of each kind of problem three are named and the others counted."),
      });
  return table;
}

LsOptions LsOptions::from(const CommandLine& line) {
  LsOptions options;
  options.view = &view_of(line);
  options.details = line.has("long");
  options.key = line.value("get");
  const std::string with_view = " does not go with --" + std::string(options.view->option);
  refuse_if(options.details && !options.view->details, "--long" + with_view + ", which has one form only");
  if (const OptionSpec* option = selection_option(line); option != nullptr && !options.view->selects) {
    throw UsageError("--" + std::string(option->name) + with_view + ", which takes trials whole");
  }
  options.selection = SelectionOptions::from(line);
  options.output = OutputOptions::from(line);
  if (options.key) {
    refuse_if(!contains(summary_keys(), *options.key), "--get: " + not_one_of(*options.key, summary_keys()));
    refuse_if(line.has("columns"), "--get and --columns: one of the two");
  }
  for (const std::string_view of_tree : {"depth", "by"}) {
    refuse_if(line.has(of_tree) && options.view->option != "tree", "--" + std::string(of_tree) + " goes with --tree");
  }
  options.by_dtype = line.has("by");
  refuse_if(options.by_dtype && line.has("depth"),
            "--depth and --by: element types have no levels; leave out one of the two");
  if (const auto depth = line.integer("depth", 1)) {
    options.tree_depth = static_cast<std::size_t>(*depth);
  }
  options.reading = ReadingOptions::from(line);
  refuse_if(options.reading.superseded == Superseded::only && options.view == &check_view,
            "--superseded does not go with --check, which takes trials whole");
  options.following = FollowingOptions::from(line);
  refuse_if(options.following.follow && options.view->option != "steps", "--follow goes with --steps only");
  options.operands = line.operands();
  options.here = line.here();
  options.output.with_trial = options.output.with_trial || options.view == &find_view;
  if (options.view == &summary_view && (options.key || options.shows_sheet())) {
    options.output.header = false;
  }
  if (options.key) {
    options.output.columns = {*options.key};
  }
  return options;
}

bool LsOptions::shows_sheet() const noexcept { return for_people() && !key && !may_be_several(operands); }

bool LsOptions::says_next() const noexcept {
  return here && view->option.empty() && !output.quiet && output.to_terminal() && is_terminal(STDERR_FILENO);
}

}  // namespace smd::tool::ls
