// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/classes.hpp"
#include "text/mapped.hpp"
#include "text/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace smd::detail::rules {

namespace {

class ClassImbalance final : public Rule {
 public:
  explicit ClassImbalance(const Parameters& parameters)
      : Rule(parameters),
        labels_(select({.regex = {parameters.text("labels_regex")}})),
        predictions_(select({.regex = {parameters.text("predictions_regex")}})),
        samples_(static_cast<std::uint64_t>(parameters.integer("samples"))) {}

  void set_required_tensors(StepNeeds& step) override { need_values(step, {labels_, predictions_}); }

  void invoke_at_step(StepView& step) override {
    std::optional<std::string_view> first_label;
    std::optional<std::string_view> first_prediction;
    const auto labels = values(step, labels_, first_label);
    const auto predictions = values(step, predictions_, first_prediction);
    if (!first_label) {
      return;
    }
    Counts& counts = counts_[step.mode()];
    bool unpaired = false;
    for (const auto& [worker, of_worker] : labels) {
      const auto other = predictions.find(worker);
      // If one tensor was not saved, positions do not tell which ones belong together.
      const bool paired = other != predictions.end() && other->second.size() == of_worker.size();
      unpaired = unpaired || (other != predictions.end() && !paired);
      for (std::size_t i = 0; i < of_worker.size(); ++i) {
        count(counts, of_worker[i], paired ? other->second[i] : nullptr);
      }
    }
    unpaired_steps_ += unpaired ? 1 : 0;
    if (counts.labels >= samples_) {
      evaluate(step, counts, *first_label, first_prediction.value_or(*first_label));
    }
  }

  void summarize(RuleSummary& summary) override {
    for (const auto& [mode, counts] : counts_) {
      if (counts.times != 0 && counts.times != 1) {
        const bool may_be_scores = counts.times > 1 && !parameters().boolean("argmax");
        summary.warn(fmt::format("there are {:.6g} predictions for each label in mode {}: only labels counted{}",
                                 counts.times, to_string(mode), may_be_scores ? "; are they scores (argmax=1)?" : ""));
      }
    }
    if (unpaired_steps_ > 0) {
      summary.warn(fmt::format("at {} there were not as many tensors of predictions as of labels: only labels counted",
                               text::counted(unpaired_steps_, "step")));
    }
    if (!counts_.empty()) {
      const auto most = std::ranges::max(mapped(counts_, [](const auto& of_mode) { return of_mode.second.labels; }));
      summary.explain(fmt::format("no mode has samples ({}) labels: at most {}", samples_, most));
    }
  }

 private:
  struct Count {
    std::uint64_t labels = 0;
    std::uint64_t paired = 0;  ///< Labels that had a prediction,
    std::uint64_t wrong = 0;   ///< and those whose prediction was another class.
  };
  struct Counts {
    std::uint64_t labels = 0;
    double times = 0;  ///< How many predictions there were for each label; 1 as soon as they were equally many.
    PerClass<Count> classes;
  };
  /// By worker, in the order of names; null if a value was saved but is not usable.
  using Values = std::map<std::string_view, std::vector<const TensorValue*>>;

  static Values values(StepView& step, SelectionId selection, std::optional<std::string_view>& first) {
    Values values;
    for (const Unit& unit : step.units(selection)) {
      if (!unit.has_value()) {
        continue;
      }
      const TensorValue* const value = step.value(unit);
      values[unit.worker()].push_back(value);
      if (value != nullptr && !first) {
        first = unit.tensor();
      }
    }
    return values;
  }

  void count(Counts& counts, const TensorValue* labels, const TensorValue* predictions) const {
    if (labels == nullptr) {
      return;
    }
    const Classes of_labels = Classes::of_labels(labels->view());
    std::optional<Classes> predicted;
    if (predictions != nullptr) {
      predicted = parameters().boolean("argmax") ? Classes::of_arg_max(predictions->view())
                                                 : Classes::of_elements(predictions->view());
    }
    const bool paired = predicted && predicted->size() == of_labels.size();
    if (predicted && of_labels.size() > 0 && counts.times != 1) {
      counts.times = static_cast<double>(predicted->size()) / static_cast<double>(of_labels.size());
    }
    for_class_pairs(of_labels, paired ? *predicted : of_labels, [&](double label, double prediction) {
      if (!std::isnan(label)) {
        Count& one = counts.classes[label];
        ++counts.labels;
        ++one.labels;
        one.paired += paired ? 1 : 0;
        one.wrong += prediction == label ? 0 : 1;
      }
    });
  }

  void evaluate(StepView& step, const Counts& counts, std::string_view labels, std::string_view predictions) const {
    std::uint64_t smallest = 0;
    std::uint64_t largest = 0;
    double worst = -1;
    counts.classes.for_each([&](double /*number*/, const Count& one) {
      if (one.labels > 0) {
        smallest = smallest == 0 ? one.labels : std::min(smallest, one.labels);
        largest = std::max(largest, one.labels);
      }
      if (one.paired > 0) {
        worst = std::max(worst, static_cast<double>(one.wrong) / static_cast<double>(one.paired));
      }
    });
    step.evaluated();
    const double ratio = static_cast<double>(largest) / static_cast<double>(smallest);
    if (const double most = parameters().number("threshold_imbalance"); ratio > most) {
      step.trigger(finding_of(labels, "imbalance", ratio, ">", most));
    }
    if (const double most = parameters().number("threshold_misprediction"); worst >= 0 && worst > most) {
      step.trigger(finding_of(predictions, "misprediction", worst, ">", most));
    }
  }

  SelectionId labels_;
  SelectionId predictions_;
  std::uint64_t samples_;
  std::map<Mode, Counts> counts_;
  std::size_t unpaired_steps_ = 0;
};

}  // namespace

RuleDescription class_imbalance_rule() {
  return {
      .name = "ClassImbalance",
      .summary = "some classes have far more labels than others, or a class is mostly mispredicted",
      .condition =
          "per mode, over all steps so far and all workers, once there were samples labels:\n"
          "labels of the most frequent class / labels of the least frequent class seen > threshold_imbalance\n"
          "the largest (labels of a class that are predicted wrong / its labels that have a prediction) > "
          "threshold_misprediction\n"
          "A value v is of class floor(v + 1/2), a one-hot row of labels of the one's position. Label and prediction "
          "tensors are paired by the order of their names if a worker has as many of both at the step; else only its "
          "labels count. Needs raw values.",
      .frameworks = "all",
      .parameters = {{"threshold_imbalance", Type::number, "10",
                      "greatest tolerated ratio of the largest class to the smallest"},
                     {"threshold_misprediction", Type::number, "0.7",
                      "greatest tolerated fraction of a class that is mispredicted"},
                     at_least(1, {"samples", Type::integer, "500", "labels to see first"}),
                     {"argmax", Type::boolean, "False", "predictions are rows of scores, of which the largest counts"},
                     {"labels_regex", Type::pattern, ".*labels", "tensors of labels"},
                     {"predictions_regex", Type::pattern, ".*predictions", "tensors of predictions"}},
      .create = create<ClassImbalance>,
      .saves =
          [](const Parameters& parameters) {
            return Collections{collection_of("labels", {parameters.text("labels_regex")}),
                               collection_of("predictions", {parameters.text("predictions_regex")})};
          },
  };
}

}  // namespace smd::detail::rules
