// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/reduction.hpp>
#include <smd/rule_parameter.hpp>
#include <smd/rule_result.hpp>
#include <smd/snapshot.hpp>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>
#include <smd/trial_options.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The class `Rule`, and what a rule sees. To write a rule: derive from `Rule`, declare in `set_required_tensors` what
/// a step needs, evaluate in `invoke_at_step`, and register the rule (`rule_registry.hpp`). `examples/` has one of each
/// kind.
namespace smd {

namespace detail::rules {
class EvaluatedTrial;
class StepContext;
class RuleRun;
struct RuleAccess;
}  // namespace detail::rules

/// What one worker saved of one tensor at one step, as the index lists it: most rules evaluate each unit separately. A
/// light handle, valid during the call that returned it; two handles of the same unit are equal.
class SMD_EXPORT Unit {
 public:
  [[nodiscard]] std::string_view tensor() const noexcept;
  [[nodiscard]] std::string_view worker() const noexcept;
  [[nodiscard]] GlobalStep step() const noexcept;
  [[nodiscard]] Mode mode() const noexcept;
  [[nodiscard]] ModeStep mode_step() const noexcept;
  /// Returns whether the raw value was saved.
  [[nodiscard]] bool has_value() const noexcept;
  /// Returns the length of the record that holds the raw value, which exceeds the bytes of its elements; 0 if the value
  /// was not saved.
  [[nodiscard]] std::uint64_t record_bytes() const noexcept;
  /// Returns whether a reduction of that name (`abs_mean`) was saved.
  [[nodiscard]] bool has_reduction(std::string_view name) const noexcept;
  /// Returns the names of the saved reductions that are one number (a `histogram` is not), in byte order. Borrowed from
  /// the trial.
  [[nodiscard]] std::vector<std::string_view> reductions() const;

  bool operator==(const Unit&) const = default;

 private:
  friend class detail::rules::EvaluatedTrial;
  friend class detail::rules::StepContext;
  Unit(const detail::rules::EvaluatedTrial& trial, SavedRow row, std::uint32_t tensor) noexcept
      : trial_(&trial), row_(row), tensor_(tensor) {}

  const detail::rules::EvaluatedTrial* trial_;
  SavedRow row_;
  std::uint32_t tensor_;
};

/// Which tensors a rule looks at: those that `names`, `regex` or `collections` select; with none of the three and
/// `all`, every tensor but metrics of the machine (`LayoutTraits::has_system`).
struct TensorSelection {
  std::vector<std::string> names = {};        ///< Exact.
  std::vector<std::string> regex = {};        ///< Found anywhere in the name, as by Python's `re.search`.
  std::vector<std::string> collections = {};  ///< An unknown collection has no tensors.
  bool all = false;
};

/// Identifies a selection of a rule, which is resolved once and not at every step. Returned by `Rule::select`.
enum class SelectionId : std::size_t {};

/// A step and the tensors saved at it and before. Later steps are not visible.
class SMD_EXPORT StepTensors {
 public:
  [[nodiscard]] GlobalStep step() const noexcept;
  [[nodiscard]] Mode mode() const noexcept;
  [[nodiscard]] ModeStep mode_step() const noexcept;
  /// Returns whether this is the first step at which the rule is invoked.
  [[nodiscard]] bool first() const noexcept;
  /// Returns whether a running job is followed (`EvaluationOptions::follow`).
  [[nodiscard]] bool live() const noexcept;

  /// Returns the units of a selection that were saved at this step (a value or reductions), by tensor's name, then
  /// worker's. Valid until the step's calls are over.
  [[nodiscard]] std::span<const Unit> units(SelectionId selection) const;
  /// Returns the unit of one tensor and worker at this step; nullopt if the worker saved nothing of the tensor.
  [[nodiscard]] std::optional<Unit> unit(std::string_view tensor, std::string_view worker) const;
  [[nodiscard]] bool selected(SelectionId selection, const Unit& unit) const;
  /// Returns the workers that wrote this step, by name.
  [[nodiscard]] std::vector<std::string_view> workers() const;

  /// Returns the units of the same tensor and worker at the steps of the same mode, up to and including this unit's
  /// step, ascending: the last one is the unit itself.
  [[nodiscard]] std::span<const Unit> series(const Unit& unit) const;
  /// As above, from where mode steps last began again, as they do if a job is restarted without its step counts.
  [[nodiscard]] std::span<const Unit> series_since_restart(const Unit& unit) const;
  /// As `series`, over the steps of all modes.
  [[nodiscard]] std::span<const Unit> series_of_all_modes(const Unit& unit) const;

  /// Returns whether this global step is complete in another trial of the rule, and has the same mode there.
  [[nodiscard]] bool other_has_step(std::size_t other = 0) const;
  /// Returns the units of a tensor in another trial at this global step, by worker.
  [[nodiscard]] std::vector<Unit> other_units(std::string_view tensor, std::size_t other = 0) const;
  /// Returns the workers that wrote this step in another trial, by name.
  [[nodiscard]] std::vector<std::string_view> other_workers(std::size_t other = 0) const;

  StepTensors(const StepTensors&) = delete;
  StepTensors& operator=(const StepTensors&) = delete;

 protected:
  friend struct detail::rules::RuleAccess;
  explicit StepTensors(detail::rules::StepContext& context) noexcept : context_(&context) {}
  ~StepTensors() = default;

  detail::rules::StepContext* context_;
};

/// What a rule will need to evaluate a step. Steps are planned ahead of their invocation, so requests may depend on the
/// step and on what was saved, but not on values.
class SMD_EXPORT StepNeeds final : public StepTensors {
 public:
  explicit StepNeeds(detail::rules::StepContext& context) noexcept : StepTensors(context) {}

  /// How long a value is kept. A rule that looks back at values must say so when it first requests them; they are then
  /// not read again, as far as memory allows (`EvaluationOptions::most_kept_bytes`).
  enum class Keep : std::uint8_t { this_step, for_later_steps };

  /// Requests the raw value with all elements, in memory. Does nothing if it was not saved.
  void value(const Unit& unit, Keep keep = Keep::this_step);
  /// Requests a reduction computed from the raw value, which is read in blocks and not kept. Does nothing if the value
  /// was not saved. @throws InvalidArgument for a reduction that `Reducer` refuses.
  void computed(const Unit& unit, const Reduction& reduction);
  /// Requests a saved reduction, by name. Does nothing if it was not saved.
  void saved(const Unit& unit, std::string_view reduction);
  /// Requests the saved reduction if there is one, else the computed one.
  void measure(const Unit& unit, const Reduction& reduction);
  /// Requests the time at which the step's records were written; `of`: those of tensors that it selects.
  void wall_time(std::optional<SelectionId> of = {});
};

/// What a rule requested at a step; receives what the rule finds.
///
/// What was not requested or not saved, cannot be read (which the result reports), or is text, complex, empty, or
/// quantised with a known scale and zero point, is null or nullopt.
class SMD_EXPORT StepView final : public StepTensors {
 public:
  explicit StepView(detail::rules::StepContext& context) noexcept : StepTensors(context) {}

  /// Returns the raw value (real numbers, at least one element, bytes aligned to 16), or null. Valid until the step is
  /// over; a copy of the value may be kept.
  [[nodiscard]] const TensorValue* value(const Unit& unit) const;
  [[nodiscard]] std::optional<double> computed(const Unit& unit, const Reduction& reduction) const;
  [[nodiscard]] std::optional<double> saved(const Unit& unit, std::string_view reduction) const;
  [[nodiscard]] std::optional<double> measure(const Unit& unit, const Reduction& reduction) const;
  /// Returns the time at which the latest record of the step was written, in seconds since 1970; nullopt if
  /// that is known of none.
  [[nodiscard]] std::optional<double> wall_time() const;
  /// Returns how long the rule may wait for a step of another trial; nullopt: not at all.
  [[nodiscard]] const std::optional<WaitOptions>& wait() const noexcept;

  /// Reports that something was evaluated at this step, so that the step counts. `trigger` implies it.
  void evaluated();
  /// Reports that the unit meets the condition `check`.
  void trigger(const Unit& unit, std::string_view check, double value, std::string_view relation, double threshold);
  /// Reports any other finding; fills in step, mode and mode step if it has no step, and the message if it is empty.
  void trigger(Finding finding);
  /// Ends the rule's evaluation: it is not invoked any more.
  void done();
  /// Adds a warning to the result; each text once.
  void warn(std::string text);
};

/// The end of an evaluation in which all steps of the trial were offered.
class SMD_EXPORT RuleEnd {
 public:
  explicit RuleEnd(detail::rules::RuleRun& run) noexcept : run_(&run) {}

  /// Returns whether the end marker exists, or the trial is a log at rest, which is read as if it did. If not, the job
  /// may still run, and the rule should close nothing.
  [[nodiscard]] bool ended() const noexcept;
  /// Returns whether the job was followed while it ran.
  [[nodiscard]] bool live() const noexcept;
  /// Returns the seconds since 1970.
  [[nodiscard]] double now() const;

  /// Reports that something was evaluated at the end. `trigger` does not imply it.
  void evaluated();
  /// Reports a finding, all of whose fields except `message` and `several_workers` must be set.
  void trigger(Finding finding);
  /// Adds a warning to the result; each text once.
  void warn(std::string text);

 private:
  detail::rules::RuleRun* run_;
};

/// The evaluation of a rule is over, for any reason: the trial ended, the rule triggered or is done, or no more steps
/// are to be evaluated.
class SMD_EXPORT RuleSummary {
 public:
  explicit RuleSummary(detail::rules::RuleRun& run) noexcept : run_(&run) {}

  [[nodiscard]] std::size_t steps_evaluated() const noexcept;
  /// Returns the number of tensors of the base trial that the rule requested.
  [[nodiscard]] std::size_t tensors_asked() const noexcept;
  /// Returns the names of a selection's tensors that were saved at steps in the range of the evaluation, in byte order.
  /// `trial` 0 is the base trial, n the other trial n - 1, with its own collections. Valid during the call.
  [[nodiscard]] std::vector<std::string_view> saved(SelectionId selection, std::size_t trial = 0) const;
  void warn(std::string text);
  /// Adds a warning of what is normal in healthy runs: it does not set `RuleResult::doubtful`.
  void note(std::string text);
  /// Sets the reason why nothing was evaluated, for the result's message, instead of the evaluator's own.
  void explain(std::string reason);
  /// As `explain`, and counts the steps evaluated as skipped, unless the rule triggered: none could be evaluated.
  void none_evaluated(std::string reason);

 private:
  friend struct detail::rules::RuleAccess;

  detail::rules::RuleRun* run_;
};

/// A point in time while a running job is followed.
class SMD_EXPORT RuleTick {
 public:
  RuleTick(detail::rules::RuleRun& run, double seconds, bool new_data) noexcept
      : run_(&run), seconds_(seconds), new_data_(new_data) {}

  /// Returns the seconds of a steady clock, whose start has no meaning.
  [[nodiscard]] double seconds() const noexcept { return seconds_; }
  /// Returns whether an index file has appeared since the last tick.
  [[nodiscard]] bool new_data() const noexcept { return new_data_; }
  /// Returns the last step at which the rule was invoked; nullopt before the first.
  [[nodiscard]] std::optional<GlobalStep> last_step() const noexcept;
  /// Reports that something was evaluated.
  void evaluated();
  /// Reports a finding at the last step seen.
  void trigger(Finding finding);
  /// Adds a warning to the result; each text once.
  void warn(std::string text);

 private:
  detail::rules::RuleRun* run_;
  double seconds_;
  bool new_data_;
};

/// A condition on a trial, and its state. Two evaluations must not share an object. One thread at a time calls it, and
/// may call `set_required_tensors` many steps ahead of `invoke_at_step`.
class SMD_EXPORT Rule {
 public:
  explicit Rule(Parameters parameters = {});
  virtual ~Rule();
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  /// Called once, when the trials are known and before anything else; `select` may be called here too.
  virtual void begin();
  /// Requests what the rule needs at a step. The default requests nothing.
  virtual void set_required_tensors(StepNeeds& step);
  /// Evaluates a step. If this or `set_required_tensors` throws TensorUnavailable, TensorUnavailableForStep or
  /// StepUnavailable, the step is skipped: it counts in `RuleResult::steps_skipped`, and findings at it are dropped. A
  /// ReadError also skips the step, and is a problem of the result. NoMoreData about this
  /// step ends the rule, about a later one it skips this step; any other exception is the rule's failure.
  virtual void invoke_at_step(StepView& step) = 0;
  /// Called once, after the last step, if all steps of the trial were offered.
  virtual void at_end(RuleEnd& end);
  /// Called from time to time while a job is followed, even if nothing is new.
  virtual void tick(RuleTick& tick);
  /// Called once, at the very end: for warnings about the whole trial, and to explain why nothing was evaluated.
  virtual void summarize(RuleSummary& summary);

  /// Returns the name under which the rule was registered, or that `set_name` gave it; if empty, results have the name
  /// of its class.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Parameters& parameters() const noexcept { return parameters_; }
  /// Precondition: the trials were set, as they are from `begin` on.
  [[nodiscard]] const Trial& base_trial() const noexcept { return *base_trial_; }
  [[nodiscard]] std::span<const Trial* const> other_trials() const noexcept { return other_trials_; }

  /// Returns the text that says what to do if the condition is met. It is passed on to the result, but not performed.
  [[nodiscard]] const std::string& action() const noexcept { return action_; }

  void set_name(std::string name) { name_ = std::move(name); }
  void set_action(std::string action) { action_ = std::move(action); }
  /// Borrows the trials, which must outlive the evaluation.
  void set_trials(const Trial& base, std::vector<const Trial*> others = {});

 protected:
  /// Adds a selection of tensors, for `StepTensors::units`. Call it in the constructor or in `begin`.
  SelectionId select(TensorSelection selection);

 private:
  friend struct detail::rules::RuleAccess;

  Parameters parameters_;
  std::string name_;
  std::string action_;
  const Trial* base_trial_ = nullptr;
  std::vector<const Trial*> other_trials_;
  std::vector<TensorSelection> selections_;
};

}  // namespace smd
