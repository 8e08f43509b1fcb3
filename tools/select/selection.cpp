// SPDX-License-Identifier: Apache-2.0
#include "select/selection.hpp"

#include "cli/mapped.hpp"
#include "cli/option_hints.hpp"
#include "cli/text.hpp"
#include "select/explanations.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace smd::tool {

namespace {

// For a glob in place of an exact name: the pattern to use, and how many tensors it selects.
std::string glob_for_name(const Trial& trial, std::string_view name) {
  const std::optional<std::string> regex = regex_of_glob(name);
  if (!regex) {
    return {};
  }
  const std::string pattern = regex->empty() ? "." : *regex;
  std::size_t found = 0;
  try {
    found = trial.tensor_names({.regex = {pattern}}).size();
  } catch (const Error&) {  // brackets that make sense in a name only
    return {};
  }
  return "; names are exact: -e " + single_quoted(pattern) + " selects " + counted(found, "tensor");
}

/// Whether the trial has a tensor. If the steps read so far do not show it, reads the rest; if the trial has none,
/// reports TensorUnavailable with the nearest three names, status 1.
bool require_tensor(Trial& trial, std::string_view name, Diagnostics& messages) {
  if (trial.has_tensor(name)) {
    return true;
  }
  trial.load_range(StepRange());
  try {
    [[maybe_unused]] const Tensor tensor = trial.tensor(name);
    return true;
  } catch (const TensorUnavailable& error) {
    std::string text;
    if (contains(error.nearest, name)) {
      const bool all = trial.superseded().contains(std::string(name));
      text = all ? "all values of " + single_quoted(name) + " are superseded; --superseded shows them"
                 : "no value of " + single_quoted(name) + " is superseded";
    } else {
      const std::string hint = glob_for_name(trial, name);
      text = single_quoted(name) + " was not saved" + as_far_as_read(trial) +
             (hint.empty() ? did_you_mean(error.nearest) : hint);
    }
    messages.fail("TensorUnavailable", text, ExitStatus::no);
    return false;
  }
}

constexpr auto tensor_name_table =
    in_group(group::selection,
             {
                 valued('n', "name", "NAME", ArgumentKind::tensor, "tensors of exactly this name").repeatable(),
             });

constexpr auto selection_table = in_group(
    group::selection,
    {
        valued('e', "regex", "RE", ArgumentKind::pattern, "tensors in whose name RE (PCRE2) is found").repeatable(),
        valued('c', "collection", "NAME", ArgumentKind::collection,
               "tensors of this collection, by name or by its patterns")
            .repeatable(),
        valued('x', "exclude", "RE", ArgumentKind::pattern, "drop tensors in whose name RE is found")
            .repeatable()
            .explained("Drop tensors in whose name RE is found, however they were chosen."),
        valued('m', "mode", "M[,M]", ArgumentKind::mode,
               "steps of these modes: train, eval, predict or global (default: global, all steps)")
            .list()
            .explained("Only steps of these modes: train, eval, predict or global, in any case of letters. The "
                       "default, global, means all steps."),
        valued('s', "step", "SPEC", ArgumentKind::step,
               "steps, counted in the mode: N, A:B, A:B:S, first, last, all; negative from the end")
            .list()
            .explained("Only these steps, counted in the mode: N, A:B (without B), A:B:S, first, last or all. Negative "
                       "numbers count from the end. In smd-tensor and smd-reduce, first, last and negative numbers "
                       "count each selected tensor's own steps, elsewhere those of the trial. A range in which no step "
                       "can lie, such as 20:0, is refused."),
        valued(no_letter, "every", "N", ArgumentKind::number, "keep every Nth of these steps")
            .explained("Keep every Nth of these steps of the trial, also counting those at which a tensor was not "
                       "saved. Each tensor's own steps count if they do for -s, and if smd-tensor was given the tensor "
                       "by name; with --follow always the trial's."),
        valued('w', "worker", "W", ArgumentKind::worker,
               "what this worker saved; all: every worker (default for values: the first by name)")
            .explained("Only what this worker saved; all stands for every worker. By default, values are those of the "
                       "first worker by name that has them."),
        flag(no_letter, "incomplete", "also steps that not all workers have written"),
    });

// A pattern that begins with a star does not compile: it was meant as a glob.
std::string pattern_from(const std::string& text) {
  if (text.starts_with('*') || text.starts_with('?')) {
    if (const std::string hint = glob_for_regex(text); !hint.empty()) {
      throw InvalidValue(hint);
    }
  }
  return text;
}

constexpr std::array<std::string_view, 4> mode_words = {"train", "eval", "predict", "global"};  // as Mode's
static_assert(Mode{1} == Mode::train && Mode{2} == Mode::eval && Mode{3} == Mode::predict && Mode{4} == Mode::global);

}  // namespace

std::vector<std::string> known_workers(const Trial& trial) {
  std::vector<std::string> workers = trial.workers();
  std::ranges::move(trial.writers(), std::back_inserter(workers));
  detail::sort_each_once(workers);
  return workers;
}

std::optional<TensorQuery> tensor_query(const Trial& trial, const SelectionOptions& options) {
  TensorQuery query{.names = options.names, .regex = options.regexes, .exclude = options.excludes};
  std::ranges::copy_if(options.collections, std::back_inserter(query.collections),
                       [&](const std::string& name) { return trial.collection(name).has_value(); });
  const bool any = !query.names.empty() || !query.regex.empty() || !query.collections.empty();
  return any || !options.selects_tensors() ? std::optional(std::move(query)) : std::nullopt;
}

std::vector<std::string> select_tensors(Trial& trial, const SelectionOptions& options, Diagnostics& messages) {
  SelectionOptions there = options;
  std::erase_if(there.names, [&](const std::string& name) { return !require_tensor(trial, name, messages); });
  for (const std::string& name : options.collections) {
    if (!trial.collection(name)) {
      messages.fail("NotFound", undefined_collection(name, trial), ExitStatus::no);
    }
  }
  if (options.selects_tensors() && !there.selects_tensors()) {
    return {};  // none of the names exists; without them everything would be selected
  }
  std::optional<TensorQuery> query = tensor_query(trial, there);
  if (!query) {
    return {};
  }
  if (contains(options.modes, Mode::global)) {
    return trial.tensor_names(*query);
  }
  std::vector<std::string> result;
  if (!there.names.empty()) {
    result = trial.tensor_names({.names = there.names, .exclude = there.excludes});
  }
  for (const Mode mode : options.modes) {
    query->mode = mode;
    std::ranges::move(trial.tensor_names(*query), std::back_inserter(result));
  }
  detail::sort_each_once(result);
  return result;
}

std::vector<std::string> tensors_at(const Trial& trial, const SelectionOptions& options,
                                    const std::optional<GlobalStep>& step) {
  std::optional<TensorQuery> query = tensor_query(trial, options);
  if (!query) {
    return {};
  }
  query->step = step;
  query->mode = only_mode(options);
  return trial.tensor_names(*query);
}

bool check_worker(Trial& trial, const SelectionOptions& options, Diagnostics& messages) {
  if (!options.worker) {
    return true;
  }
  std::vector<std::string> workers = known_workers(trial);
  if (!std::ranges::binary_search(workers, *options.worker)) {
    trial.load_range(StepRange());  // index files that were not read may name it
    workers = known_workers(trial);
  }
  if (std::ranges::binary_search(workers, *options.worker)) {
    return true;
  }
  messages.fail("InvalidWorker",
                "there is no worker " + single_quoted(*options.worker) + "; workers: " + quoted_list(workers),
                ExitStatus::no);
  return false;
}

std::optional<Mode> only_mode(const SelectionOptions& options) noexcept {
  const bool one = options.modes.size() == 1 && options.modes.front() != Mode::global;
  return one ? std::optional(options.modes.front()) : std::nullopt;
}

Mode mode_from(const std::string& word, std::string_view what) {
  const std::optional<Mode> mode = parse_mode(word);
  invalid_if(!mode, std::string(what) + not_one_of(word, mode_words));
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
  options.every = line.integer("every", 1).value_or(1);
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
    add_once(modes, mode);
  }
  if (modes.empty()) {
    modes.push_back(Mode::global);
  }
  return modes;
}

std::string_view mode_text(Mode mode) noexcept {
  return mode_words[static_cast<std::size_t>(mode) - static_cast<std::size_t>(Mode::train)];
}

std::string full_step_text(GlobalStep step, Mode mode, ModeStep mode_step) {
  const std::string text = std::to_string(step.value);
  return mode == Mode::global
             ? text
             : text + " (" + std::string(mode_text(mode)) + " " + std::to_string(mode_step.value) + ")";
}

By By::from(const CommandLine& line, std::span<const std::string_view> words) {
  const bool given = line.has("by");
  By by = {!given, !given, !given};
  for (const std::string& name : line.values("by")) {
    refuse_if(!name.empty() && !contains(words, name), "--by: " + not_one_of(name, words));
    by.tensor = by.tensor || name == "tensor";
    by.step = by.step || name == "step";
    by.worker = by.worker || name == "worker";
    by.row = by.row || name == "row";
  }
  refuse_if(by.row && !by.tensor, "--by: rows are of a tensor: --by tensor,row");
  return by;
}

}  // namespace smd::tool
