// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "cli/mapped.hpp"
#include "cli/option_hints.hpp"
#include "cli/text.hpp"
#include "follow/following.hpp"
#include "operands/reading_options.hpp"
#include "select/selection.hpp"
#include "text/environment.hpp"
#include "text/number.hpp"

#include <smd/reduction.hpp>

#include <cmath>
#include <string_view>

namespace smd::tool::save {

namespace {

constexpr std::string_view saving = "Saving";

/// The reductions that a hook can save, each also of |x|.
std::span<const std::string_view> saved_reductions() {
  static const auto names = [] {
    std::vector<std::string> all;
    for (const std::string prefix : {"", "abs_"}) {
      for (const ReductionFacts& facts : all_reductions()) {
        if (facts.saved_by != SavedBy::none) {
          all.push_back(prefix + std::string(facts.name));
        }
      }
    }
    return all;
  }();
  static const std::vector<std::string_view> words(names.begin(), names.end());
  return words;
}

std::shared_ptr<detail::Pattern> compiled(const std::string& text) {
  auto pattern = std::make_shared<detail::Pattern>();
  const auto error = pattern->compile(text);
  invalid_if(error.has_value(), "the pattern does not compile: " + error.value_or(""));
  return pattern;
}

}  // namespace

Assignment Assignment::parse(const std::string& operand) {
  Assignment assignment;
  const std::size_t of_file = operand.find("=@");
  const std::size_t equals = of_file == std::string::npos ? operand.rfind('=') : of_file;
  refuse_if(equals == std::string::npos, single_quoted(operand) + " is not of the form NAME=VALUE");
  assignment.name = operand.substr(0, equals);
  const std::string value = operand.substr(equals + 1);
  if (value == "-") {
    assignment.kind = Kind::stdin_npy;
    return assignment;
  }
  if (value.starts_with('@')) {
    assignment.kind = Kind::file;
    assignment.file = value.substr(1);
    refuse_if(assignment.file.empty(), single_quoted(operand) + ": no file is named after the '@'");
    return assignment;
  }
  const std::optional<double> number = smd::text::number_of(value);
  refuse_if(!number, single_quoted(value) + " is neither a number, nor @FILE.npy, nor @FILE.npz, nor '-'");
  refuse_if(std::isinf(*number) && value.find_first_of("0123456789") != value.npos,
            single_quoted(value) + " is beyond what a float64 can hold");
  assignment.number = *number;
  return assignment;
}

std::span<const OptionSpec> SaveOptions::table() noexcept {
  static const std::vector<OptionSpec> options = with_remote_options(in_group(
      saving,
      {
          valued('s', "step", "N", ArgumentKind::number, "global step; required with data"),
          valued('m', "mode", "M", ArgumentKind::mode, "train, eval, predict or global (default)"),
          valued(no_letter, "mode-step", "K", ArgumentKind::number,
                 "step within the mode (default: how many steps of this mode were saved before; in mode global the "
                 "number of --step)"),
          valued('w', "worker", "W", ArgumentKind::worker, "the worker that saves (default: worker_0)"),
          valued(no_letter, "workers", "N", ArgumentKind::number, "how many workers save (default: 1)"),
          valued('c', "collection", "NAME", ArgumentKind::collection,
                 "the tensors belong to this collection; repeatable")
              .repeatable(),
          valued('r', "reduce", "LIST", ArgumentKind::text,
                 "save reductions too: min max mean std variance sum prod l1 l2 median, each also abs_")
              .list()
              .of(saved_reductions()),
          flag(no_letter, "no-raw", "do not save the tensors themselves"),
          flag(no_letter, "shape", "save shapes too"),
          valued('C', "config", "FILE", ArgumentKind::file,
                 "hook configuration (JSON) that decides what is saved, and when"),
          flag(no_letter, "checksum",
               "write checksums of record contents, which the reference implementation cannot read"),
          flag(no_letter, "append", "join what this worker saved at the step before, instead of refusing"),
          flag(no_letter, "init", "make the trial, with its collections, even without data"),
          flag(no_letter, "end", "mark the job as over, after everything else was saved"),
          valued(no_letter, "lock-timeout", "D", ArgumentKind::duration,
                 "how long to wait for other processes that save into TRIAL (default: 60s): 30, 1.5s, 5m, 2h"),
          flag(no_letter, "no-lock",
               "save without a lock, on a file system that has none; no other process may save into TRIAL"),
          flag(no_letter, "jsonl",
               "read one object per tensor and line from standard input: step tensor value, optionally mode mode_step "
               "worker dtype shape collections"),
          valued(
              no_letter, "lines", "PATTERN", ArgumentKind::text,
              "read a log of text from standard input: each named group of PATTERN is a number, (?<step>...) its step")
              .explained(
                  "Read a log of text from standard input. Of each line in which the regular expression PATTERN "
                  "is found, the named group step is the step (default: that of --step), and every other named "
                  "group a number: 'iter (?<step>\\d+): loss (?<loss>\\S+)'. A group that took no part, is empty, "
                  "or is - or None or NA is not saved; nan and inf are numbers; a comma or semicolon behind a number "
                  "is not part of it. A carriage return ends a line too: each state of a progress bar is one. Lines of "
                  "one step are merged, also if the step comes again later, as in the text of a resumed job; of one "
                  "name twice at one step the later counts. A step that an earlier command saved needs --append. Other "
                  "lines pass by; -v counts them. Lines whose step is no whole number from 0 on are left out; a "
                  "warning counts them. If no line gives a number, nothing is made or ended, and the status is 1. With "
                  "--end, the trial ends when the input does."),
          flag(no_letter, "tee",
               "with --lines: write all that is read to standard output, too, even if it cannot be saved"),
      }));
  return options;
}

SaveOptions SaveOptions::from(const CommandLine& line) {
  SaveOptions options;
  options.step = line.integer("step", 0);
  options.mode = line.convert("mode", [](const std::string& word) { return mode_from(word); }).value_or(Mode::global);
  options.mode_step = line.integer("mode-step", 0);
  options.worker = line.value("worker").value_or("");
  refuse_if(line.has("worker") && options.worker.empty(), "--worker: the name is empty");
  options.workers = line.convert(
      "workers", [](const std::string& text) { return static_cast<std::size_t>(parse_integer(text, 1, 1'000'000)); });
  options.collections = line.values("collection");
  options.config = line.value("config");
  options.checksum = line.has("checksum");
  options.append = line.has("append");
  options.init = line.has("init");
  options.end = line.has("end");
  options.jsonl = line.has("jsonl");
  options.lines = line.convert("lines", compiled).value_or(nullptr);
  options.tee = line.has("tee");
  refuse_if(options.lines && options.jsonl, "--jsonl and --lines: standard input is one or the other");
  if (options.lines) {
    const std::vector<std::string> names = options.lines->group_names();
    const bool has_step = contains(names, "step");
    refuse_if(names.size() < (has_step ? 2U : 1U) || (!has_step && !options.step),
              "--lines: the pattern needs (?<step>...) and a named group for each number, such as (?<loss>\\S+)");
  }
  refuse_if(options.tee && !options.lines, "--tee passes on what --lines reads: give --lines");
  options.lock_timeout = line.convert("lock-timeout", parse_duration);
  options.no_lock = line.has("no-lock");
  refuse_if(options.no_lock && options.lock_timeout, "--lock-timeout: with --no-lock nothing is waited for");
  if (line.has("reduce") || line.has("no-raw") || line.has("shape")) {
    std::string list;
    for (const std::string& name : line.values("reduce")) {
      refuse_if(!contains(saved_reductions(), name), "--reduce: " + not_one_of(name, saved_reductions()));
      list += name + ",";
    }
    options.reduction = parse_reduction_config(list, !line.has("no-raw"), line.has("shape"));
    refuse_if(line.has("no-raw") && options.reduction->reductions.empty() && !options.reduction->save_shape,
              "--no-raw leaves nothing to save: give --reduce or --shape");
  }
  options.trial = line.operands().front();
  refuse_if(options.trial.empty(), "the trial's name is empty");
  options.remote = remote_options(line);
  bool from_stdin = options.reads_lines();
  for (std::size_t i = 1; i < line.operands().size(); ++i) {
    options.assignments.push_back(Assignment::parse(line.operands()[i]));
    if (options.assignments.back().kind == Assignment::Kind::stdin_npy) {
      refuse_if(from_stdin, "standard input can be read once only");
      from_stdin = true;
    }
  }
  refuse_if(options.assignments.empty() && !from_stdin && !options.end && !options.init,
            "nothing to save: give NAME=VALUE, --jsonl, --lines, --init or --end");
  refuse_if(options.reads_lines() && !options.assignments.empty(),
            std::string(options.jsonl ? "--jsonl" : "--lines") +
                " takes its tensors from standard input, not from NAME=VALUE");
  refuse_if(!options.assignments.empty() && !options.step, "--step N is missing: at which step it is saved");
  refuse_if(options.mode == Mode::global && options.mode_step && options.mode_step != options.step,
            "--mode-step: in mode global it is the step itself: leave it out, or give --mode");
  return options;
}

HookConfig SaveOptions::hook_config(Diagnostics& messages) const {
  HookConfig hook;
  const std::string file = config ? *config : text::environment("SMDEBUG_CONFIG_FILE_PATH").value_or("");
  if (config || !file.empty()) {
    hook = HookConfig::load(file);
    if (!hook.enabled) {
      messages.warning(file + ": the job has no DebugHookConfig: its hook saves nothing");
    }
    if (!hook.tensorboard_dir.empty()) {
      messages.note(file + ": TensorBoard's files go to 'tensorboard' in TRIAL, not to " +
                    single_quoted(hook.tensorboard_dir) + ": TRIAL says where to save");
      hook.export_tensorboard = true;
      hook.tensorboard_dir.clear();
    }
    if (hook.out_dir.starts_with("s3://") && hook.out_dir != trial) {
      messages.note(file + ": S3OutputPath " + single_quoted(hook.out_dir) + " is not used: TRIAL says where to save");
    }
  } else {
    hook.save_config = SaveConfigMode{.save_interval = 1};
  }
  hook.out_dir = trial;
  hook.worker = worker.empty() ? hook.worker : worker;
  hook.num_workers = workers.value_or(hook.num_workers);
  hook.reduction_config = reduction ? reduction : hook.reduction_config;
  hook.replaces_earlier_reductions = reduction.has_value();
  hook.checksum = checksum;
  hook.existing_step = append ? ExistingStep::append : lines ? ExistingStep::append_own : ExistingStep::refuse;
  hook.end_marker = false;
  hook.lock = no_lock ? LockPolicy::none : LockPolicy::required;
  hook.lock_timeout = lock_timeout.value_or(hook.lock_timeout);
  hook.remote = remote;
  say_remote(hook.remote, messages);
  return hook;
}

}  // namespace smd::tool::save
