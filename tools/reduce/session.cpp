// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "common/text.hpp"

namespace smd::tool::reduce {

void Session::for_each_entry(const ReduceCommandOptions& options,
                             const std::function<bool(const TensorEntry&)>& visit) const {
  if (!empty()) {
    for_each_entry(options, tensors, steps, visit);
  }
}

void Session::for_each_entry(const ReduceCommandOptions& options, std::span<const std::string> some_tensors,
                             std::span<const SelectedStep> some_steps,
                             const std::function<bool(const TensorEntry&)>& visit) const {
  const EntryQuery query = entry_query(options.selection, {some_tensors.begin(), some_tensors.end()}, some_steps);
  trial.for_each_entry(
      query, [&](const TensorEntry& entry) { return (!entry.value && entry.reductions.empty()) || visit(entry); });
}

Forms Session::forms(const ReduceCommandOptions& options) const {
  Forms forms;
  if (!empty()) {
    trial.for_each_entry(entry_query(options.selection, tensors, steps), [&](const TensorEntry& entry) {
      forms.values = entry.value.has_value();
      forms.reductions = forms.reductions || !entry.reductions.empty();
      forms.shapes = forms.shapes || entry.shape.has_value();
      return !forms.values;
    });
  }
  return forms;
}

void say_nothing_found(std::string_view trial, const Forms& forms, Diagnostics& messages) {
  if (messages.status() != ExitStatus::yes || forms.values || (!forms.reductions && !forms.shapes)) {
    say_nothing_selected(messages);
    return;
  }
  const std::string_view what = forms.reductions ? ": no values, only reductions, were saved of what is selected; "
                                                   "smd-reduce -r saved prints them"
                                                 : ": no values or reductions, only shapes, were saved of what is "
                                                   "selected; smd-ls -l prints them";
  messages.fail("TensorUnavailableForStep", std::string(trial) + std::string(what), ExitStatus::no);
}

Session select(Trial& trial, const std::string& name, const ReduceCommandOptions& options, Diagnostics& messages) {
  Session session{trial, name, {}, {}};
  if (!check_worker(trial, options.selection, messages)) {
    return session;
  }
  session.steps = select_steps(trial, options.selection, StepSpec(), messages);
  if (session.steps.empty()) {
    return session;
  }
  session.tensors = select_tensors(trial, options.selection, messages);
  if (options.shard) {
    session.sharded = {session.steps.size(), session.steps.front().step.value, session.steps.back().step.value};
    const auto [begin, end] = options.shard->range(session.steps.size());
    session.steps = {session.steps.begin() + static_cast<std::ptrdiff_t>(begin),
                     session.steps.begin() + static_cast<std::ptrdiff_t>(end)};
  }
  return session;
}

void report(const Problem& problem, std::string_view tensor, GlobalStep step, const Trial& trial,
            Diagnostics& messages) {
  messages.report_record(problem, trial.path(), quoted(tensor) + " at step " + std::to_string(step.value));
}

}  // namespace smd::tool::reduce
