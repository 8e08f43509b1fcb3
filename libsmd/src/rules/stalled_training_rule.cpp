// SPDX-License-Identifier: Apache-2.0
#include "rules/builtin.hpp"

#include "base/escape.hpp"

#include <fmt/format.h>

namespace smd::detail::rules {

namespace {

class StalledTrainingRule final : public Rule {
 public:
  explicit StalledTrainingRule(const Parameters& parameters)
      : Rule(parameters), threshold_(static_cast<double>(parameters.integer("threshold"))) {}

  void set_required_tensors(StepNeeds& step) override {
    if (!step.live()) {
      step.wall_time();
    }
  }

  void invoke_at_step(StepView& step) override {
    if (step.live()) {
      if (!step.first()) {
        step.judged();  // a gap has ended; `tick` watches it
      }
      return;
    }
    const std::optional<double> time = step.wall_time();
    if (!time) {
      return;
    }
    if (last_) {
      step.judged();
      if (*time - last_->time >= threshold_) {
        step.fire(finding(*time - last_->time));
        warn_of_stop(step);
      }
    }
    last_ = {step.step(), step.mode(), step.mode_step(), *time};
  }

  void at_end(RuleEnd& end) override {
    if (end.live() || end.ended() || !last_) {
      return;
    }
    end.judged();
    const double waited = end.now() - last_->time;
    if (waited >= threshold_) {
      end.fire(finding(waited));
      warn_of_stop(end);
    }
  }

  void tick(RuleTick& tick) override {
    if (!waiting_since_ || tick.new_data()) {
      if (!waiting_since_) {
        tick.judged();
      }
      waiting_since_ = tick.seconds();
      fired_ = false;
    }
    const double waited = tick.seconds() - *waiting_since_;
    if (!fired_ && waited >= threshold_) {
      fired_ = true;
      tick.judged();
      tick.fire(finding(waited));
      warn_of_stop(tick);
    }
  }

 private:
  struct Seen {
    GlobalStep step;
    Mode mode = Mode::global;
    ModeStep mode_step;
    double time = 0;
  };

  [[nodiscard]] Finding finding(double seconds) const {
    Finding found;
    if (last_) {
      found.step = last_->step;
      found.mode = last_->mode;
      found.mode_step = last_->mode_step;
    }
    found.check = "seconds";
    found.value = seconds;
    found.relation = ">=";
    found.threshold = threshold_;
    return found;
  }

  template <class Place>
  void warn_of_stop(Place& place) const {
    if (!parameters().boolean("stop_training_on_fire")) {
      return;
    }
    place.warn(parameters().has("training_job_name_prefix")
                   ? fmt::format("StopTraining was asked for, of jobs named {}…, and was not performed: outside "
                                 "SageMaker there is no job to stop",
                                 printable(parameters().text("training_job_name_prefix")))
                   : "StopTraining was asked for and was not performed: outside SageMaker there is no job to stop");
  }

  double threshold_;
  std::optional<Seen> last_;
  std::optional<double> waiting_since_;  // of the steady clock
  bool fired_ = false;                   // since the last new data
};

}  // namespace

RuleDescription stalled_training_rule_rule() {
  return {
      .name = "StalledTrainingRule",
      .alias = "stalled_training_rule",
      .summary = "nothing new was saved for a time",
      .condition =
          "following a job: now - (time of the latest index file's appearance, at first the start) >= threshold\n"
          "after the fact: time(step) - time(step before) >= threshold, with time the latest wall time of the "
          "step's records; without an end marker also now - time(last step) >= threshold",
      .frameworks = "all",
      .parameters = {{.name = "threshold",
                      .type = ParameterType::integer,
                      .default_text = "1800",
                      .help = "seconds without new data that fire",
                      .at_least = 1},
                     {.name = "stop_training_on_fire",
                      .type = ParameterType::boolean,
                      .default_text = "False",
                      .help = "accepted; outside SageMaker there is no job to stop"},
                     {.name = "training_job_name_prefix", .help = "accepted, for stop_training_on_fire"}},
      .create = [](const Parameters& parameters) { return std::make_unique<StalledTrainingRule>(parameters); },
  };
}

}  // namespace smd::detail::rules
