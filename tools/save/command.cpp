// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include "app.hpp"
#include "array.hpp"
#include "cli/exit_status.hpp"
#include "cli/interruption.hpp"
#include "cli/mapped.hpp"
#include "cli/signals.hpp"
#include "cli/text.hpp"
#include "follow/following.hpp"
#include "rows/output_options.hpp"
#include "saver.hpp"

#include <smd/hook.hpp>
#include <smd/temporary_file.hpp>
#include <smd/trial.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

namespace smd::tool::save {

namespace {

/// The time to put in its place, after a signal, what had come. A slower server may never answer.
constexpr std::chrono::seconds time_to_put{2};

struct Named {
  std::string tensor;
  std::variant<TensorValue, StoredArray> value;
};

void read_assignment(const Assignment& assignment, std::vector<Named>& arrays) {
  switch (assignment.kind) {
    case Assignment::Kind::number:
      arrays.push_back({assignment.name, number_value(assignment.number)});
      return;
    case Assignment::Kind::stdin_npy: {
      const FileContent content = read_standard_input();
      arrays.push_back({assignment.name, parse_npy(content.text, "standard input", content.owner)});
      return;
    }
    case Assignment::Kind::file:
      break;
  }
  if (std::optional<StoredArray> stored = stored_array(assignment.file)) {
    arrays.push_back({assignment.name, std::move(*stored)});
    return;
  }
  const FileContent content = read_file(assignment.file);
  if (!content.text.starts_with("PK")) {
    arrays.push_back({assignment.name, parse_npy(content.text, assignment.file, content.owner)});
    return;
  }
  auto members = parse_npz(content.text, assignment.file, content.owner);
  refuse_if(members.empty(),
            single_quoted(assignment.file) + " is an archive without arrays: there is nothing to save");
  for (auto& [key, value] : members) {
    arrays.push_back({assignment.name.empty() ? key : assignment.name + "/" + key, std::move(value)});
  }
}

/// Refuses a name that is empty, as a shell variable that is not set leaves it, and one that is given twice: one of its
/// values would be lost.
void check_names(const std::vector<Named>& arrays) {
  std::set<std::string_view> names;
  for (const Named& named : arrays) {
    refuse_if(named.tensor.empty(), "a tensor's name is empty: give NAME=VALUE");
    refuse_if(!names.insert(named.tensor).second, single_quoted(named.tensor) + " is given twice");
  }
}

/// Whether there is a trial whose end can be marked.
bool is_there(const SaveOptions& options, const HookConfig& config) {
  if (!is_remote_path(options.trial)) {
    return access(options.trial.c_str(), F_OK) == 0;
  }
  try {
    (void)Trial::open(options.trial, {.as_it_stands = true, .remote = config.remote});
  } catch (const MissingCollectionFiles&) {
  } catch (const ReadError& error) {
    if (error.problem.kind == ProblemKind::not_found) {
      return false;
    }
    throw;
  }
  return true;
}

/// Refuses to begin a trial that would hide data of another layout in its folder, or trials below it. One that is there
/// and can go on is no obstacle. @throws WriteError.
void refuse_to_hide_others(const SaveOptions& options, const HookConfig& config) {
  const auto refuse = [&](const std::string& what) {
    throw WriteError({ProblemKind::io, {}, {}, options.trial + ": " + what + "; name another folder"});
  };
  const std::string hidden = ", which a trial saved here would hide";
  struct stat status = {};
  if (stat(options.trial.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) {
    refuse("is a file, not a folder");
  }
  try {
    const auto found = find_trial(options.trial, {.remote = config.remote});
    const bool here = found && options.trial.starts_with(found->path);  // else below it
    if (found && !(here && found->layout.is_saved)) {
      refuse(single_quoted(found->path) + " is a trial of layout " + std::string(found->layout.name) + hidden);
    }
  } catch (const MissingCollectionFiles&) {
    refuse(single_quoted(options.trial) + " has several trials below it" + hidden);
  }
}

/// Warns that --end writes no marker, and why, unless an earlier command has written one.
void say_no_end(const SaveOptions& options, const HookConfig& config, const std::string& why, Diagnostics& messages) {
  std::string advice;
  try {
    if (!options.end || Trial::open(options.trial, {.range_steps = {.newest = 1}, .remote = config.remote}).ended()) {
      return;
    }
    advice = "; smd-save TRIAL --end writes it";
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): nothing was saved so far, and there is no trial to end
  }
  messages.warning(options.trial + ": the end marker is left out: " + why + advice);
}

ExitStatus save(const SaveOptions& options, Diagnostics& messages) {
  // All input is read first: if some of it cannot be read, nothing is saved.
  std::vector<Named> arrays;
  for (const Assignment& assignment : options.assignments) {
    read_assignment(assignment, arrays);
  }
  check_names(arrays);
  HookConfig config = options.hook_config(messages);
  config.remote.stop = [] { return interrupted(time_to_put); };
  const bool only_end = options.assignments.empty() && !options.reads_lines() && !options.init;
  if (only_end && !is_there(options, config)) {
    throw ReadError({ProblemKind::not_found, {}, {}, options.trial + ": no such trial to end; --init makes one"});
  }
  refuse_to_hide_others(options, config);
  // From here on a signal ends the input, and what came before it is still saved.
  observe_temporary_files({.making = [](const char* path) noexcept { (void)remove_on_signal(path); },
                           .gone = [](const char* path) noexcept { forget_on_signal(path); }});
  // With --tee, who reads the pipe may stand still, and the rest never come.
  const bool puts_the_rest = (options.reads_lines() && !options.tee) || is_remote_path(options.trial);
  Interruption interruption(Interruption::Reader::ignored, puts_the_rest
                                                               ? time_to_put + 2 * Interruption::usual_patience
                                                               : Interruption::usual_patience);
  std::uint64_t lines_not_saved = 0;
  bool steps_refused = false;
  if (!only_end) {
    Saver saver(options, config, options.lines ? options.lines->group_names() : mapped(arrays, &Named::tensor),
                messages);
    try {
      const StepToSave place{options.step.value_or(0), options.mode, options.mode_step, {}};
      for (const Named& named : arrays) {
        saver.save(place, named.tensor, named.value, options.collections);
      }
      if (options.jsonl) {
        lines_not_saved = save_lines(options, saver, interruption, messages);
      }
      if (options.lines) {
        const auto refused = save_log(options, saver, interruption, messages);
        if (!refused) {
          messages.fail("TensorUnavailable", "--lines: no line with a step gave a number", ExitStatus::no);
          return ExitStatus::no;
        }
        lines_not_saved = *refused;
      }
      steps_refused = !saver.close();
    } catch (const StepAlreadySaved& error) {
      saver.refuse(error, options.trial + ": ");
      steps_refused = true;
    } catch (const Error&) {
      if (!interruption.asked()) {
        say_no_end(options, config, "a failure ends the saving", messages);
      }
      throw;
    }
    messages.info(options.trial + ": " + std::to_string(saver.saved()) + " tensors saved");
    saver.note_nothing_saved();
  }
  if (interruption.asked()) {
    messages.info(options.trial + ": interrupted; what had come is saved");
    return ExitStatus::yes;  // run_command dies of the signal
  }
  if (lines_not_saved > 0 || steps_refused) {
    say_no_end(options, config,
               (lines_not_saved > 0 ? counted(lines_not_saved, "line") : "a step") + " could not be saved", messages);
  } else if (options.end) {
    mark_job_ended(config);
  }
  return ExitStatus::yes;
}

ExitStatus save_within_time(const SaveOptions& options, Diagnostics& messages) {
  try {
    return save(options, messages);
  } catch (const ReadError& error) {
    if (error.problem.kind != ProblemKind::stopped) {
      throw;
    }
    messages.fail("WriteError",
                  options.trial + ": not all is saved: the server had not answered within " +
                      duration_text(time_to_put) + " of the signal",
                  ExitStatus::unreadable);
    return ExitStatus::unreadable;
  }
}

}  // namespace

const CommandDefinition& definition() {
  static const CommandDefinition definition = {
      .name = "smd-save",
      .synopsis = "[OPTION]... TRIAL [NAME=VALUE]...",
      .summary = "Saves tensors into a trial, from a shell or any language.",
      .brief = "save tensors into a trial",
      .operands = {{.metavar = "TRIAL", .kind = ArgumentKind::trial, .required = true, .repeats = false},
                   {.metavar = "NAME=VALUE", .kind = ArgumentKind::text, .required = false, .repeats = true}},
      .examples = {{"the loss of step 12", "smd-save run --step 12 --mode train loss=0.25 -c losses"},
                   {"an array from NumPy", "smd-save run --step 12 fc/weight=@weight.npy"},
                   {"a stream, followed by a rule", "train.R | smd-save run --jsonl --end"},
                   {"a log of text, passed on",
                    "python train.py | smd-save run --lines 'iter (?<step>\\d+): loss (?<loss>\\S+)' --tee"},
                   {"straight to S3", "train.R | smd-save s3://bucket/job --jsonl --end"}},
      .option_tables = {SaveOptions::table(), MessageOptions::table()},
      .formats = {},
      .exit_notes =
          {{ExitStatus::yes, "all was saved, as far as the configuration wants it"},
           {ExitStatus::no,
            "the step had been saved before, and nothing of it was changed; or no line gave --lines a number"},
           {ExitStatus::usage,
            "wrong usage, an invalid configuration, or lines on which the pattern of --lines needs too many "
            "steps; the others were saved"},
           {ExitStatus::unreadable, "cannot read or write, or others have held the trial's lock for too long"},
           {ExitStatus::damaged, "an array or a line of input is damaged; with --jsonl the others were saved"}},
      .see_also = {"smd-ls(1)", "smd-rule(1)", "smd-trial(5)"},
  };
  return definition;
}

ExitStatus run(const SaveOptions& options, Diagnostics& messages) {
  const LibraryMessages library(messages);
  if (!options.tee) {
    return save_within_time(options, messages);
  }
  (void)std::signal(SIGPIPE, SIG_IGN);  // saving goes on when nobody reads the rest of the pipe
  run_guarded(definition().name, messages, [&] { return save_within_time(options, messages); });
  // The program that writes into the pipe goes on, too, except after a mistake on the command line.
  if (messages.status() > ExitStatus::usage && !interrupted()) {
    pass_on_the_rest(messages);
  }
  return messages.status();
}

}  // namespace smd::tool::save
