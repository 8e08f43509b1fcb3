// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/reduction.hpp>
#include <smd/rule_parameter.hpp>
#include <smd/rule_result.hpp>
#include <smd/snapshot.hpp>
#include <smd/step.hpp>
#include <smd/tensor_view.hpp>
#include <smd/wait.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What a rule is, and what it sees. To write one: derive from `Rule`, say in `set_required_tensors` what a step needs,
/// evaluate in `invoke_at_step`, and register it (`rule_registry.hpp`). `examples/` has one of each kind.
namespace smd {

namespace detail::rules {
class EvaluatedTrial;
class StepContext;
class RuleRun;
struct RuleAccess;
}  // namespace detail::rules

/// One tensor of one worker at one step, known by what the index says: what most rules evaluate by itself. A light
/// handle, valid during the call that gave it; two handles of the same thing are equal.
class SMD_EXPORT Unit {
 public:
  [[nodiscard]] std::string_view tensor() const noexcept;
  [[nodiscard]] std::string_view worker() const noexcept;
  [[nodiscard]] GlobalStep step() const noexcept;
  [[nodiscard]] Mode mode() const noexcept;
  [[nodiscard]] ModeStep mode_step() const noexcept;
  /// Whether the raw value was saved.
  [[nodiscard]] bool has_value() const noexcept;
  /// Bytes of the record that holds the raw value, more than its elements take; 0 if it was not saved.
  [[nodiscard]] std::uint64_t record_bytes() const noexcept;
  /// Whether a reduction of that name (`abs_mean`) was saved.
  [[nodiscard]] bool has_reduction(std::string_view name) const noexcept;
  /// Names of the saved reductions that are one number (a `histogram` is not), in byte order; views of what the trial
  /// holds.
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

/// Which tensors a rule looks at: the union of the three; with none of them and `all`, every tensor.
struct TensorSelection {
  std::vector<std::string> names = {};        ///< Exact.
  std::vector<std::string> regex = {};        ///< Found anywhere in the name, as by Python's `re.search`.
  std::vector<std::string> collections = {};  ///< An unknown one has no tensors.
  bool all = false;
};

/// A selection of a rule, resolved once and not at every step. Made by `Rule::select`.
enum class SelectionId : std::size_t {};

/// A step and the tensors saved at it and before. Nothing of later steps can be seen.
class SMD_EXPORT StepTensors {
 public:
  [[nodiscard]] GlobalStep step() const noexcept;
  [[nodiscard]] Mode mode() const noexcept;
  [[nodiscard]] ModeStep mode_step() const noexcept;
  /// Whether the rule sees its first step, by its order of invocation.
  [[nodiscard]] bool first() const noexcept;
  /// The job is followed while it runs (`EvaluationOptions::follow`).
  [[nodiscard]] bool live() const noexcept;

  /// What of a selection was saved at this step (a value or reductions), by tensor's name, then worker's. Valid until
  /// the step's calls are over.
  [[nodiscard]] std::span<const Unit> units(SelectionId selection) const;
  /// Of one worker at this step; nothing if it saved nothing of that tensor.
  [[nodiscard]] std::optional<Unit> unit(std::string_view tensor, std::string_view worker) const;
  [[nodiscard]] bool selected(SelectionId selection, const Unit& unit) const;
  /// Workers that wrote this step, by name.
  [[nodiscard]] std::vector<std::string_view> workers() const;

  /// The same tensor and worker at the steps of the same mode up to and including this unit's, ascending: the last one
  /// is the unit itself.
  [[nodiscard]] std::span<const Unit> series(const Unit& unit) const;
  /// The same over the steps of all modes.
  [[nodiscard]] std::span<const Unit> series_of_all_modes(const Unit& unit) const;

  /// Whether another trial of the rule has this global step complete, and in the same mode.
  [[nodiscard]] bool other_has_step(std::size_t other = 0) const;
  /// What another trial saved of a tensor at this global step, by worker.
  [[nodiscard]] std::vector<Unit> other_units(std::string_view tensor, std::size_t other = 0) const;
  /// Workers that wrote this step in another trial, by name.
  [[nodiscard]] std::vector<std::string_view> other_workers(std::size_t other = 0) const;

  StepTensors(const StepTensors&) = delete;
  StepTensors& operator=(const StepTensors&) = delete;

 protected:
  friend struct detail::rules::RuleAccess;
  explicit StepTensors(detail::rules::StepContext& context) noexcept : context_(&context) {}
  ~StepTensors() = default;

  detail::rules::StepContext* context_;
};

/// What a rule will need to evaluate a step. Steps are planned ahead of their invocation, so what is asked for must
/// depend on the step and on what was saved, not on values.
class SMD_EXPORT StepNeeds final : public StepTensors {
 public:
  explicit StepNeeds(detail::rules::StepContext& context) noexcept : StepTensors(context) {}

  /// How long a value stays at hand. A rule that looks back at values says so when it first asks for them; they are
  /// then not read again, as far as memory allows (256 MiB).
  enum class Keep : std::uint8_t { this_step, for_later_steps };

  /// The raw value with all elements, in memory. Nothing happens where it was not saved.
  void value(const Unit& unit, Keep keep = Keep::this_step);
  /// A reduction computed of the raw value, which is read in blocks and not kept; likewise. @throws InvalidArgument for
  /// a reduction that `Reducer` refuses.
  void computed(const Unit& unit, const Reduction& reduction);
  /// A saved reduction, by name; likewise.
  void saved(const Unit& unit, std::string_view reduction);
  /// The saved reduction if there is one, else the computed one.
  void measure(const Unit& unit, const Reduction& reduction);
  /// When the step's records were written.
  void wall_time();
};

/// What a rule asked for at a step, and where it says what it found.
///
/// What was not asked for, not saved, not readable (which the result reports), text, complex or empty is not there.
class SMD_EXPORT StepView final : public StepTensors {
 public:
  explicit StepView(detail::rules::StepContext& context) noexcept : StepTensors(context) {}

  /// The raw value (real numbers, at least one element, bytes aligned to 16), or null. Valid until the step is over;
  /// a copy of the value may be kept.
  [[nodiscard]] const TensorValue* value(const Unit& unit) const;
  [[nodiscard]] std::optional<double> computed(const Unit& unit, const Reduction& reduction) const;
  [[nodiscard]] std::optional<double> saved(const Unit& unit, std::string_view reduction) const;
  [[nodiscard]] std::optional<double> measure(const Unit& unit, const Reduction& reduction) const;
  /// Seconds since 1970 at which the latest record of the step was written; nothing if it has none.
  [[nodiscard]] std::optional<double> wall_time() const;
  /// How long the rule may wait for a step of another trial; none: not at all.
  [[nodiscard]] const std::optional<WaitOptions>& wait() const noexcept;

  /// Something was evaluated at this step, so the step counts. `trigger` says so too.
  void evaluated();
  /// The unit meets the condition `check`.
  void trigger(const Unit& unit, std::string_view check, double value, std::string_view relation, double threshold);
  /// Any other finding; step, mode and mode step are filled in if it names no step, the message if it is empty.
  void trigger(Finding finding);
  /// The rule has seen enough and is not invoked any more.
  void done();
  /// Worth saying with the result; each text once.
  void warn(std::string text);
};

/// The end of an evaluation in which all steps of the trial were offered.
class SMD_EXPORT RuleEnd {
 public:
  explicit RuleEnd(detail::rules::RuleRun& run) noexcept : run_(&run) {}

  /// The end marker exists. Otherwise the job may still run, and nothing should be closed.
  [[nodiscard]] bool ended() const noexcept;
  /// The job was followed while it ran.
  [[nodiscard]] bool live() const noexcept;
  /// Seconds since 1970.
  [[nodiscard]] double now() const;

  /// One thing more was evaluated. `trigger` does not say so.
  void evaluated();
  /// A finding with all fields set but `message`.
  void trigger(Finding finding);
  void warn(std::string text);

 private:
  detail::rules::RuleRun* run_;
};

/// The evaluation of a rule is over, however it came: the trial ended, the rule triggered or is done, or no more steps
/// are to be evaluated.
class SMD_EXPORT RuleSummary {
 public:
  explicit RuleSummary(detail::rules::RuleRun& run) noexcept : run_(&run) {}

  [[nodiscard]] std::size_t steps_evaluated() const noexcept;
  /// How many tensors of the base trial the rule asked for.
  [[nodiscard]] std::size_t tensors_asked() const noexcept;
  /// Names of a selection's tensors that were saved at steps in the range of the evaluation, in byte order. `trial` 0
  /// is the base trial, n the other trial n - 1, with its own collections. Valid during the call.
  [[nodiscard]] std::vector<std::string_view> saved(SelectionId selection, std::size_t trial = 0) const;
  void warn(std::string text);
  /// Why nothing was evaluated, for the result's message, in place of what the evaluator says of the selections.
  void explain(std::string reason);

 private:
  detail::rules::RuleRun* run_;
};

/// Time goes by while a running job is followed.
class SMD_EXPORT RuleTick {
 public:
  RuleTick(detail::rules::RuleRun& run, double seconds, bool new_data) noexcept
      : run_(&run), seconds_(seconds), new_data_(new_data) {}

  /// Seconds of a steady clock whose start means nothing.
  [[nodiscard]] double seconds() const noexcept { return seconds_; }
  /// An index file has appeared since the last tick.
  [[nodiscard]] bool new_data() const noexcept { return new_data_; }
  /// The last step at which the rule was invoked, if any.
  [[nodiscard]] std::optional<GlobalStep> last_step() const noexcept;
  void evaluated();
  /// Step, mode and mode step are those of the last step seen.
  void trigger(Finding finding);
  void warn(std::string text);

 private:
  detail::rules::RuleRun* run_;
  double seconds_;
  bool new_data_;
};

/// A condition on a trial, and its state. Two evaluations never share an object. All calls come from one thread at a
/// time, `set_required_tensors` possibly many steps ahead of `invoke_at_step`.
class SMD_EXPORT Rule {
 public:
  explicit Rule(Parameters parameters = {});
  virtual ~Rule();
  Rule(const Rule&) = delete;
  Rule& operator=(const Rule&) = delete;

  /// Once, when the trials are known and before anything else; selections may be made here too.
  virtual void begin();
  /// Default: nothing is needed.
  virtual void set_required_tensors(StepNeeds& step);
  /// A step at which this or `set_required_tensors` throws TensorUnavailable, TensorUnavailableForStep or
  /// StepUnavailable is skipped: it counts in `RuleResult::steps_skipped`, and nothing that was found at it counts.
  /// A ReadError does the same and is a problem of the result. NoMoreData ends the rule; anything else is its failure.
  virtual void invoke_at_step(StepView& step) = 0;
  /// Once, after the last step, if all steps of the trial were offered.
  virtual void at_end(RuleEnd& end);
  /// While a job is followed, now and then, also when nothing is new.
  virtual void tick(RuleTick& tick);
  /// Once, at the very end: for warnings about the whole trial, and to say why nothing was evaluated.
  virtual void summarize(RuleSummary& summary);

  /// The name under which it was registered, or that it was given; empty: results have that of its class.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Parameters& parameters() const noexcept { return parameters_; }
  /// Precondition: trials were set, as they are from `begin` on.
  [[nodiscard]] const Trial& base_trial() const noexcept { return *base_trial_; }
  [[nodiscard]] std::span<const Trial* const> other_trials() const noexcept { return other_trials_; }

  /// What is to be done when the condition is met, as text: kept and given to the result. Nothing performs it.
  [[nodiscard]] const std::string& action() const noexcept { return action_; }

  void set_name(std::string name) { name_ = std::move(name); }
  void set_action(std::string action) { action_ = std::move(action); }
  /// Borrowed: the trials outlive the evaluation.
  void set_trials(const Trial& base, std::vector<const Trial*> others = {});

 protected:
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
