// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"

#include "text/escape.hpp"

#include <smd/error.hpp>
#include <smd/sagemaker.hpp>
#include <smd/snapshot.hpp>
#include <smd/trial.hpp>

#include <fmt/format.h>

#include <chrono>

namespace smd::detail::rules {

namespace {

class StalledTrainingRule final : public Rule {
 public:
  explicit StalledTrainingRule(const Parameters& parameters)
      : Rule(parameters), threshold_(static_cast<double>(parameters.integer("threshold"))) {}

  void set_required_tensors(StepNeeds& step) override {
    if (!step.live()) {
      step.wall_time(all_);
    }
  }

  void invoke_at_step(StepView& step) override {
    if (step.live()) {
      if (!std::exchange(gap_counted_, false) && !step.first()) {
        step.evaluated();  // a gap has ended; `tick` watches it
      }
      return;
    }
    const std::optional<double> time = step.wall_time();
    if (!time) {
      unread_ = Seen{place_of(step), 0};
      return;
    }
    unread_.reset();
    if (last_) {
      step.evaluated();
      if (*time - last_->time >= threshold_) {
        step.trigger(finding(*time - last_->time));
        warn_of_stop(step);
      }
    }
    last_ = {place_of(step), *time};
  }

  void at_end(RuleEnd& end) override {
    if (end.live() || end.ended() || !last_ || !base_trial().layout().marks_steps) {
      return;  // a log is taken as ended: many mark no end, and a W&B run that was killed does not either
    }
    if (unread_) {
      // An index file shows progress as well as the event file, which may appear later.
      const auto files = file_totals(base_trial());
      if (!files) {
        return;
      }
      last_ = unread_;
      last_->time = std::chrono::duration<double>(files->newest.time_since_epoch()).count();
    }
    end.evaluated();
    if (const double waited = end.now() - last_->time; waited >= threshold_) {
      end.trigger(finding(waited));
      stop_training(end);
    }
  }

  void tick(RuleTick& tick) override {
    if (!waiting_since_ || tick.new_data()) {
      waiting_since_ = tick.seconds();
      triggered_ = false;
    }
    const double waited = tick.seconds() - *waiting_since_;
    if (!triggered_ && waited >= threshold_) {
      triggered_ = true;
      if (!std::exchange(gap_counted_, true)) {
        tick.evaluated();
      }
      tick.trigger(finding(waited));
      stop_training(tick);
    }
  }

  void summarize(RuleSummary& summary) override {
    if (unread_ && !last_) {
      summary.explain("no step tells when it was written");
    }
  }

 private:
  struct Seen {
    Finding place;  ///< With nothing but the step.
    double time = 0;
  };

  static Finding place_of(const StepTensors& step) {
    return {.step = step.step(), .mode = step.mode(), .mode_step = step.mode_step()};
  }

  [[nodiscard]] Finding finding(double seconds) const {
    Finding found = last_ ? last_->place : Finding();
    found.check = "seconds";
    found.value = seconds;
    found.relation = ">=";
    found.threshold = threshold_;
    return found;
  }

  /// Stops the job, once, if that was requested and exactly one job matches. For stalls that have not ended.
  template <class Place>
  void stop_training(Place& place) {
    if (!parameters().boolean("stop_training_on_fire") || !parameters().has("training_job_name_prefix")) {
      warn_of_stop(place);
      return;
    }
    if (std::exchange(stop_tried_, true)) {
      return;
    }
    try {
      // By the profile and region that the trial was opened with.
      const RemoteOptions account = TrialSnapshot::last(base_trial()).options().remote;
      place.warn("StopTraining: " + stop_training_job(parameters().text("training_job_name_prefix"), account));
    } catch (const Error& error) {
      place.warn(std::string("StopTraining was asked for and failed: ") + error.what());
    }
  }

  /// Warns about a gap in the past, after which training went on.
  template <class Place>
  void warn_of_stop(Place& place) const {
    if (!parameters().boolean("stop_training_on_fire")) {
      return;
    }
    place.warn(
        parameters().has("training_job_name_prefix")
            ? fmt::format("StopTraining was asked for, of jobs named {}..., and was not performed: training went on",
                          printable(parameters().text("training_job_name_prefix")))
            : "StopTraining was asked for and was not performed: no training_job_name_prefix says which job");
  }

  double threshold_;
  SelectionId all_ = select({.all = true});
  std::optional<Seen> last_;
  std::optional<Seen> unread_;           // the newest step, if none of its records could be read
  std::optional<double> waiting_since_;  // seconds of the steady clock
  bool triggered_ = false;               // since the last new data
  bool gap_counted_ = false;             // the gap after the last step was counted when it triggered
  bool stop_tried_ = false;
};

}  // namespace

RuleDescription stalled_training_rule_rule() {
  return {
      .name = "StalledTrainingRule",
      .summary = "nothing new was saved for a time",
      .condition =
          "following a job: now - (time of the latest index file's appearance, at first the start) >= threshold\n"
          "after the fact: time(step) - time(step before) >= threshold, with time the latest wall time of the step's "
          "records; without an end marker also now - time(last step) >= threshold, where the last step's event file is "
          "not there yet with the time at which the newest file was written (not of logs, W&B runs and checkpoints, "
          "which are taken as ended)",
      .frameworks = "all",
      .parameters =
          {at_least(1, {"threshold", Type::integer, "1800", "seconds without new data that trigger"}),
           {"stop_training_on_fire", Type::boolean, "False",
            "stop the training job when it stalls: the only one in progress that training_job_name_prefix names"},
           {"training_job_name_prefix", Type::text, no_default,
            "how the job's name begins, for stop_training_on_fire"}},
      .watches_clock = true,
      .create = create<StalledTrainingRule>,
      .saves = saves_always(collection_of("losses")),  // any tensor shows progress
  };
}

}  // namespace smd::detail::rules
