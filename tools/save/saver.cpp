// SPDX-License-Identifier: Apache-2.0
#include "saver.hpp"

#include <smd/trial.hpp>

#include "cli/text.hpp"
#include "select/selection.hpp"

#include <utility>

namespace smd::tool::save {

Saver::Saver(const SaveOptions& options, const HookConfig& config, const std::vector<std::string>& names,
             Diagnostics& messages)
    : options_(options), messages_(messages), config_(config) {
  HookConfig config_alone = config_;
  config_alone.dry_run = true;
  Hook checked(std::move(config_alone));
  for (const std::string& collection : options.collections) {
    checked.add_collection({.name = collection, .tensor_names = {"any"}});
  }
  for (const std::string& name : names) {
    (void)checked.wants(name, options.collections);
  }
  if (options.init || !options.reads_lines()) {
    (void)hook_of(config_.worker);
  }
}

Hook& Saver::hook_of(const std::string& worker) {
  const std::string& name = worker.empty() ? config_.worker : worker;
  if (const auto at = hooks_.find(name); at != hooks_.end()) {
    return at->second;
  }
  HookConfig config = config_;
  config.worker = name;
  Hook& hook = hooks_.emplace(name, Hook(std::move(config))).first->second;
  if (config_.dry_run) {
    messages_.warning_once("dry_run is true: nothing is written");
  } else if (!hook.enabled() && config_.enabled) {  // hook_config has warned of a configuration that is not enabled
    const bool one = config_.include_workers == IncludeWorkers::one;
    messages_.warning_once(one ? "include_workers is one: nothing of " + name +
                                     " is saved, which is not the first worker"
                               : "USE_SMDEBUG switches saving off: nothing is saved");
  }
  return hook;
}

std::int64_t Saver::mode_step_of(const StepToSave& place) {
  if (place.mode == Mode::global) {
    return place.step;
  }
  const auto add = [&](Mode mode, std::int64_t step, std::int64_t mode_step) {
    const auto [at, is_new] = known_.try_emplace({mode, step}, mode_step);
    next_[mode] += is_new ? 1 : 0;
    return at->second;
  };
  if (place.mode_step) {
    add(place.mode, place.step, *place.mode_step);
    return *place.mode_step;
  }
  if (!std::exchange(trial_read_, true)) {
    try {
      const Trial trial = Trial::open(options_.trial, {.as_it_stands = true, .remote = config_.remote});
      for (const StepInfo& step : trial.step_infos()) {
        add(step.mode, step.step.value, step.mode_step.value);
      }
    } catch (const MissingCollectionFiles&) {  // nothing was saved so far
    } catch (const ReadError& error) {
      if (error.problem.kind != ProblemKind::not_found) {
        throw;
      }
    }
  }
  return add(place.mode, place.step, next_[place.mode]);
}

void Saver::save(const StepToSave& place, const std::string& tensor,
                 const std::variant<TensorValue, StoredArray>& value, const std::vector<std::string>& collections) {
  Hook& hook = hook_of(place.worker);
  const std::int64_t mode_step = mode_step_of(place);
  if (hook.step() != GlobalStep(place.step) || hook.mode() != place.mode || hook.mode_step() != ModeStep(mode_step)) {
    hook.set_step(GlobalStep(place.step), place.mode, ModeStep(mode_step));
    names_[place.worker].clear();
  }
  if (!names_[place.worker].insert(tensor).second && !std::exchange(told_twice_, true)) {
    messages_.warning(single_quoted(tensor) + " is given twice at step " + std::to_string(place.step) +
                      "; of such values the later ones count");
  }
  const auto* const stored = std::get_if<StoredArray>(&value);
  if (stored != nullptr ? hook.save_tensor(tensor, stored->dtype, stored->shape, stored->read, collections)
                        : hook.save_tensor(tensor, std::get<TensorValue>(value), collections)) {
    ++saved_;
    return;
  }
  if (place.mode != Mode::global && !place.mode_step) {
    refused_at_ = " at " + std::string(mode_text(place.mode)) + " step " + std::to_string(mode_step) +
                  ", by the number of steps saved so far; --mode-step tells the job's own";
  } else if (options_.reads_lines() && hook.enabled()) {
    refused_at_ = "";
  }
  messages_.info(single_quoted(tensor) + " is not saved at step " + std::to_string(place.step) +
                 ": the configuration says so");
}

void Saver::end_step() {
  for (auto& [worker, hook] : hooks_) {
    hook.set_step(hook.step(), hook.mode(), hook.mode_step());
  }
}

void Saver::note_nothing_saved() {
  if (saved_ == 0 && refused_at_) {
    messages_.note(options_.trial + ": nothing is saved: the configuration wants none of it" + *refused_at_);
  }
}

bool Saver::close() {
  bool all = true;
  for (auto& [worker, hook] : hooks_) {
    try {
      hook.close();
    } catch (const StepAlreadySaved& error) {
      refuse(error, options_.trial + ": ");
      all = false;
    }
  }
  return all;
}

void Saver::refuse(const StepAlreadySaved& error, const std::string& where) {
  const char* const advice = options_.append || !error.can_append ? "" : "; --append joins it";
  messages_.fail(error.tag(), where + error.what() + advice, ExitStatus::no);
}

}  // namespace smd::tool::save
