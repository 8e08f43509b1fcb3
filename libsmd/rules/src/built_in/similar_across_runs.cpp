// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/scans.hpp"
#include "framework/rule_run.hpp"
#include "text/escape.hpp"

#include <smd/trial.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>

namespace smd::detail::rules {

namespace {

constexpr Closeness tolerance{.rtol = 1e-5, .atol = 1e-8};

class SimilarAcrossRuns final : public Rule {
 public:
  explicit SimilarAcrossRuns(const Parameters& parameters)
      : Rule(parameters), tensors_(select(selection_of(parameters, true))) {}

  void begin() override {
    if (other_trials().empty()) {
      throw ConfigurationError(ConfigurationErrorKind::missing_parameter,
                               "SimilarAcrossRuns was added without the trial to compare with", "other_trial");
    }
  }

  void set_required_tensors(StepNeeds& step) override {
    StepContext& context = RuleAccess::context(step);
    for_pairs(step, [&](const Unit& unit, const Unit& other) {
      if (unit.has_value() && other.has_value()) {
        context.want_stored(unit, false);
        context.want_stored(other, false);
      } else {
        context.lacks(unit);
        for (const std::string_view name : unit.reductions()) {
          if (other.has_reduction(name)) {
            step.saved(unit, name);
            step.saved(other, name);
          }
        }
      }
    });
  }

  void invoke_at_step(StepView& step) override {
    step_in_common_ = step_in_common_ || step.other_has_step();
    for_pairs(step, [&](const Unit& unit, const Unit& other) {
      if (!compared_.contains(unit.tensor())) {
        compared_.emplace(unit.tensor());
      }
      if (unit.has_value() && other.has_value()) {
        evaluate_values(step, unit, other);
      } else {
        evaluate_reductions(step, unit, other);
      }
    });
    const StepContext& context = RuleAccess::context(step);
    stopped_ = !context.findings.empty() && !context.run.options().keep_going;
  }

  void summarize(RuleSummary& summary) override {
    const std::vector<std::string_view> here = summary.saved(tensors_, 0);
    const std::vector<std::string_view> there = summary.saved(tensors_, 1);
    std::vector<std::string_view> common;
    std::set_intersection(here.begin(), here.end(), there.begin(), there.end(), std::back_inserter(common));
    const std::string only_here = only_in(here, there, "this trial");
    const std::string only_there = only_in(there, here, other_trials().front()->path());
    if (common.empty()) {
      if (here.size() + there.size() > 0) {
        summary.explain("the trials have no selected tensor in common: " + only_here +
                        (only_here.empty() || only_there.empty() ? "" : "; ") + only_there);
      }
      return;
    }
    if (!step_in_common_) {
      summary.explain("the trials have no step in common that both saved in the same mode; the other trial is " +
                      printable(other_trials().front()->path()));
    }
    for (const std::string& warning : {only_here, only_there, never_compared(std::move(common))}) {
      if (!warning.empty()) {
        summary.warn(warning);
      }
    }
  }

 private:
  /// Returns `2 selected tensors are only in PLACE: a, b`; empty if there are none. Names are sorted.
  static std::string only_in(const std::vector<std::string_view>& names, const std::vector<std::string_view>& others,
                             std::string_view place) {
    std::vector<std::string_view> only;
    std::set_difference(names.begin(), names.end(), others.begin(), others.end(), std::back_inserter(only));
    return only.empty() ? std::string()
                        : counted(only.size(), "selected tensor", "is", "are") + " only in " + printable(place) + ": " +
                              first_names(only);
  }

  /// Returns `val is in both trials, but at no common step: it was not compared`, of tensors that both trials have;
  /// empty if all were compared, or if the evaluation stopped before the last step.
  [[nodiscard]] std::string never_compared(std::vector<std::string_view> common) const {
    std::erase_if(common, [&](std::string_view name) { return compared_.contains(name); });
    if (common.empty() || stopped_ || !step_in_common_) {
      return {};
    }
    const bool one = common.size() == 1;
    return first_names(common) + (one ? " is" : " are") +
           " in both trials, but at no common step: " + (one ? "it was" : "they were") + " not compared";
  }

  template <class Use>
  void for_pairs(const StepTensors& step, const Use& use) const {
    if (!step.other_has_step()) {
      return;
    }
    // Compares the only workers of a step whatever their names, unless both trials have several workers.
    const RuleRun& run = RuleAccess::context(step).run;
    const bool alone = step.workers().size() == 1 && step.other_workers().size() == 1 &&
                       !(run.base().several_workers() && run.others().front()->several_workers());
    for (const Unit& unit : step.units(tensors_)) {
      for (const Unit& other : step.other_units(unit.tensor())) {
        if (alone || other.worker() == unit.worker()) {
          use(unit, other);
        }
      }
    }
  }

  static void evaluate_values(StepView& step, const Unit& unit, const Unit& other) {
    StepContext& context = RuleAccess::context(step);
    const TensorValue* const a = context.stored(unit);
    const TensorValue* const b = context.stored(other);
    if (a == nullptr || b == nullptr) {
      return;
    }
    step.evaluated();
    if (a->shape() != b->shape()) {
      step.trigger(unit, "shape", static_cast<double>(a->view().size()), ">", 0);
    } else if (StepContext::meaning_of(unit) != StepContext::meaning_of(other)) {
      step.trigger(unit, "meaning", static_cast<double>(a->view().size()), ">", 0);
    } else if (const Distance difference = compare(a->view(), b->view(), tolerance); difference.far > 0) {
      step.trigger(unit, "value", static_cast<double>(difference.far), ">", 0);
    }
  }

  static void evaluate_reductions(StepView& step, const Unit& unit, const Unit& other) {
    double far = 0;
    for (const std::string_view name : unit.reductions()) {
      if (!other.has_reduction(name)) {
        continue;
      }
      const std::optional<double> a = step.saved(unit, name);
      const std::optional<double> b = step.saved(other, name);
      if (a && b) {
        step.evaluated();
        far += (std::isnan(*a) && std::isnan(*b)) || is_close(*a, *b, tolerance.rtol, tolerance.atol) ? 0 : 1;
      }
    }
    if (far > 0) {
      step.trigger(unit, "reduction", far, ">", 0);
    }
  }

  SelectionId tensors_;
  bool step_in_common_ = false;
  std::set<std::string, std::less<>> compared_;
  bool stopped_ = false;  // the last step evaluated triggered, and none follows
};

}  // namespace

RuleDescription similar_across_runs_rule() {
  return {
      .name = "SimilarAcrossRuns",
      .summary = "a value differs from the other trial's",
      .condition =
          "per tensor and worker at a step that both trials have in the same mode, a here and b there:\n"
          "shape: the shapes differ; meaning: elements of another scale or zero point, or of sparse tensors of another "
          "size; else value: #{elements : not |a - b| <= 1e-8 + 1e-5 x |b|} > 0; where one side has no raw value, "
          "reduction: the same of the reductions saved by both\n"
          "Equal infinities are close, and so are two NaN. Steps and tensors of one trial alone are no difference; "
          "such tensors are a warning.",
      .frameworks = "all",
      .parameters = {{.name = "other_trial",
                      .help = "path of the trial to compare with",
                      .required = true,
                      .other_name = "other_trial_0"},
                     collection_names_parameter("of this trial; neither: every tensor"),
                     tensor_regex_parameter("neither: every tensor")},
      .other_trials = 1,
      .create = create<SimilarAcrossRuns>,
      .saves = [](const Parameters& parameters) { return selected(parameters, "similar_across_runs", {}, "all"); },
  };
}

}  // namespace smd::detail::rules
