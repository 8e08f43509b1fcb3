// SPDX-License-Identifier: Apache-2.0
#include "cli/glob.hpp"
#include "cli/option_hints.hpp"
#include "cli/text.hpp"
#include "select/selection.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace smd::tool {

namespace {

constexpr std::array<OptionSpec, 1> tensor_name_table = {{
    {.short_name = 'n',
     .name = "name",
     .metavar = "NAME",
     .help = "tensors of exactly this name",
     .group = group::selection,
     .kind = ArgumentKind::tensor,
     .repeat = Repeat::adds_up},
}};

constexpr std::array<OptionSpec, 8> selection_table = {{
    {.short_name = 'e',
     .name = "regex",
     .metavar = "RE",
     .help = "tensors in whose name RE (PCRE2) is found",
     .group = group::selection,
     .kind = ArgumentKind::pattern,
     .repeat = Repeat::adds_up},
    {.short_name = 'c',
     .name = "collection",
     .metavar = "NAME",
     .help = "tensors of this collection, by name or by its patterns",
     .group = group::selection,
     .kind = ArgumentKind::collection,
     .repeat = Repeat::adds_up},
    {.short_name = 'x',
     .name = "exclude",
     .metavar = "RE",
     .help = "drop tensors in whose name RE is found",
     .group = group::selection,
     .kind = ArgumentKind::pattern,
     .repeat = Repeat::adds_up,
     .manual = "Drop tensors in whose name RE is found, however they were chosen."},
    {.short_name = 'm',
     .name = "mode",
     .metavar = "M[,M]",
     .help = "steps of these modes: train, eval, predict or global (default: global, all steps)",
     .group = group::selection,
     .kind = ArgumentKind::mode,
     .repeat = Repeat::adds_up,
     .split_commas = true,
     .manual = "Only steps of these modes: train, eval, predict or global, in any case of letters. The default, "
               "global, means all steps."},
    {.short_name = 's',
     .name = "step",
     .metavar = "SPEC",
     .help = "steps, counted in the mode: N, A:B, A:B:S, first, last, all; negative from the end",
     .group = group::selection,
     .kind = ArgumentKind::step,
     .repeat = Repeat::adds_up,
     .split_commas = true,
     .manual = "Only these steps, counted in the mode: N, A:B (without B), A:B:S, first, last or all. Negative numbers "
               "count from the end. In smd-tensor and smd-reduce, first, last and negative numbers count each selected "
               "tensor's own steps, elsewhere those of the trial. A range in which no step can lie, such as 20:0, is "
               "refused."},
    {.name = "every",
     .metavar = "N",
     .help = "keep every Nth of these steps",
     .group = group::selection,
     .kind = ArgumentKind::number},
    {.short_name = 'w',
     .name = "worker",
     .metavar = "W",
     .help = "what this worker saved; all: every worker (default for values: the first by name)",
     .group = group::selection,
     .kind = ArgumentKind::worker,
     .manual = "Only what this worker saved; all stands for every worker. By default, values are those of the first "
               "worker by name that has them."},
    {.name = "incomplete", .help = "also steps that not all workers have written", .group = group::selection},
}};

// A pattern that begins with a star does not compile: it was meant as a glob.
std::string pattern_from(const std::string& text) {
  if (text.starts_with('*') || text.starts_with('?')) {
    if (const std::string hint = glob_for_regex(text); !hint.empty()) {
      throw InvalidValue(hint);
    }
  }
  return text;
}

}  // namespace

Mode mode_from(const std::string& word, std::string_view what) {
  constexpr std::array<std::string_view, 4> words = {"train", "eval", "predict", "global"};
  const std::optional<Mode> mode = parse_mode(word);
  if (!mode) {
    throw InvalidValue(std::string(what) + not_one_of(word, words));
  }
  return *mode;
}

std::span<const OptionSpec> SelectionOptions::table() noexcept { return selection_table; }

std::span<const OptionSpec> SelectionOptions::name_table() noexcept { return tensor_name_table; }

SelectionOptions SelectionOptions::from(const CommandLine& line) {
  SelectionOptions options;
  options.names = line.values("name");
  options.regexes = line.convert_all("regex", pattern_from);
  options.collections = line.values("collection");
  options.excludes = line.convert_all("exclude", pattern_from);
  options.modes = modes_from(line);
  options.modes_given = line.has("mode");
  std::vector<StepTerm> terms = line.convert_all("step", StepSpec::parse_term);
  if (!terms.empty()) {
    options.steps = StepSpec(std::move(terms));
  }
  options.every = line.convert("every",
                               [](const std::string& text) {
                                 return parse_integer(text, 1, std::numeric_limits<std::int64_t>::max());
                               })
                      .value_or(1);
  options.worker = line.value("worker");
  if (options.worker == "all") {
    options.worker.reset();
    options.all_workers = true;
  }
  options.incomplete = line.has("incomplete");
  return options;
}

std::vector<Mode> modes_from(const CommandLine& line) {
  std::vector<Mode> modes;
  for (const Mode mode : line.convert_all("mode", [](const std::string& word) { return mode_from(word); })) {
    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) {
      modes.push_back(mode);
    }
  }
  if (modes.empty()) {
    modes.push_back(Mode::global);
  }
  return modes;
}

std::string_view mode_text(Mode mode) noexcept {
  switch (mode) {
    case Mode::train:
      return "train";
    case Mode::eval:
      return "eval";
    case Mode::predict:
      return "predict";
    case Mode::global:
      break;
  }
  return "global";
}

}  // namespace smd::tool
