// SPDX-License-Identifier: Apache-2.0
#include "built_in/builtin.hpp"
#include "built_in/classes.hpp"
#include "text/escape.hpp"

#include <smd/trial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace smd::detail::rules {

namespace {

/// Returns the pattern that matches one name.
std::string exactly(std::string_view name) { return "^" + with_backslashes(name, R"(\^$.|?*+()[]{})") + "$"; }

/// How often each label was predicted as each class: by label, then prediction.
using Matrix = PerClass<PerClass<std::uint64_t, 64>, 64>;
using Cells = std::map<std::pair<double, double>, std::uint64_t>;

/// Returns all counts that are not 0, by label, then prediction.
Cells cells_of(const Matrix& matrix) {
  Cells cells;
  matrix.for_each([&](double label, const auto& predictions) {
    predictions.for_each([&](double prediction, std::uint64_t n) {
      if (n != 0) {
        cells.emplace(std::pair(label, prediction), n);
      }
    });
  });
  return cells;
}

/// Where the labels, or the predictions, are: the tensor with a given name, else the first of a given collection, else
/// the first of the collection with that name.
using Source = std::vector<SelectionId>;

std::optional<std::string_view> tensor_of(const Source& source, const StepTensors& step) {
  for (const SelectionId choice : source) {
    for (const Unit& unit : step.units(choice)) {
      if (unit.has_value()) {
        return unit.tensor();
      }
    }
  }
  return std::nullopt;
}

bool was_saved(const Source& source, const RuleSummary& summary) {
  return std::ranges::any_of(source, [&](SelectionId choice) { return !summary.saved(choice).empty(); });
}

class Confusion final : public Rule {
 public:
  explicit Confusion(const Parameters& parameters) : Rule(parameters) {
    labels_.push_back(select({.names = {parameters.text("labels")}}));
    predictions_.push_back(select({.names = {parameters.text("predictions")}}));
  }

  void begin() override {
    add_collections(labels_, "labels_collection", "labels");
    add_collections(predictions_, "predictions_collection", "predictions");
  }

  void set_required_tensors(StepNeeds& step) override {
    for_workers(step, [&](const Unit& labels, const Unit& predictions) {
      step.value(labels);
      step.value(predictions);
    });
  }

  void invoke_at_step(StepView& step) override {
    Matrix matrix;
    std::string_view tensor;
    for_workers(step, [&](const Unit& labels, const Unit& predictions) {
      const TensorValue* const true_classes = step.value(labels);
      const TensorValue* const predicted = step.value(predictions);
      tensor = predictions.tensor();
      if (true_classes != nullptr && predicted != nullptr) {
        count(matrix, true_classes->view(), predicted->view());
      }
    });
    evaluate(step, matrix, tensor);
  }

  void summarize(RuleSummary& summary) override {
    const bool labels = was_saved(labels_, summary);
    const bool predictions = was_saved(predictions_, summary);
    if (labels != predictions) {
      const std::string lacking = labels ? "predictions" : "labels";
      summary.explain(fmt::format("{} were saved, but no {}: neither a tensor '{}' nor one of the collection '{}'",
                                  labels ? "labels" : "predictions", lacking, printable(parameters().text(lacking)),
                                  printable(parameters().text(lacking + "_collection"))));
    }
  }

 private:
  /// Leaves out collections that the trial does not define: neither is needed if the other one, or a tensor with the
  /// name, exists.
  void add_collections(Source& source, const char* collection, const char* name) {
    std::vector<std::string> names = {parameters().text(collection)};
    if (names.front() != parameters().text(name)) {
      names.push_back(parameters().text(name));
    }
    for (std::string& one : names) {
      if (base_trial().collection(one)) {
        source.push_back(select({.collections = {std::move(one)}}));
      }
    }
  }

  template <class Step, class Use>
  void for_workers(Step& step, const Use& use) const {
    const std::optional<std::string_view> labels = tensor_of(labels_, step);
    const std::optional<std::string_view> predictions = tensor_of(predictions_, step);
    if (!labels || !predictions) {
      return;
    }
    for (const std::string_view worker : step.workers()) {
      const std::optional<Unit> of_labels = step.unit(*labels, worker);
      const std::optional<Unit> of_predictions = step.unit(*predictions, worker);
      if (of_labels && of_predictions) {
        use(*of_labels, *of_predictions);
      }
    }
  }

  [[nodiscard]] bool in_range(double number) const { return number >= 0 && number < categories_; }

  void count(Matrix& matrix, const TensorView& labels, const TensorView& predictions) const {
    const Classes true_classes = Classes::of_labels(labels);
    const bool by_elements = predictions.size() == true_classes.size();
    if (!by_elements && predictions.shape().size() < 2) {
      return;
    }
    const Classes predicted = by_elements ? Classes::of_elements(predictions) : Classes::of_arg_max(predictions);
    if (predicted.size() == true_classes.size()) {
      for_class_pairs(true_classes, predicted, [&](double label, double prediction) {
        if (in_range(label) && in_range(prediction)) {
          ++matrix[label][prediction];
        }
      });
    }
  }

  void evaluate(StepView& step, const Matrix& matrix, std::string_view tensor) const {
    const Cells cells = cells_of(matrix);
    if (cells.empty()) {
      return;
    }
    step.evaluated();
    // S, by class. It is 0, and so is the share, for a class that has labels but is never predicted.
    std::map<double, std::uint64_t> predicted;
    for (const auto& [at, n] : cells) {
      predicted[at.second] += n;
      predicted.try_emplace(at.first, 0);
    }
    double least = std::numeric_limits<double>::infinity();
    double least_class = 0;
    for (const auto& [number, all] : predicted) {
      const auto right = cells.find({number, number});
      const double share = right == cells.end() ? 0 : static_cast<double>(right->second) / static_cast<double>(all);
      if (share < least) {
        least = share;
        least_class = number;
      }
    }
    double most = 0;
    std::pair<double, double> most_at;
    for (const auto& [at, n] : cells) {
      const double share = static_cast<double>(n) / static_cast<double>(predicted[at.second]);
      if (at.first != at.second && share > most) {
        most = share;
        most_at = at;
      }
    }
    if (const double bound = parameters().number("min_diag"); least < bound) {
      trigger(step, tensor, "diag", least, "<", bound, {least_class, least_class});
    }
    if (const double bound = parameters().number("max_off_diag"); most > bound) {
      trigger(step, tensor, "off_diag", most, ">", bound, most_at);
    }
  }

  static void trigger(StepView& step, std::string_view tensor, const char* check, double value, const char* relation,
                      double threshold, std::pair<double, double> at) {
    Finding finding = finding_of(tensor, check, value, relation, threshold);
    finding.details = {{"label", fmt::format("{:.0f}", at.first)}, {"prediction", fmt::format("{:.0f}", at.second)}};
    step.trigger(std::move(finding));
  }

  double categories_ = parameters().has("category_no") ? static_cast<double>(parameters().integer("category_no"))
                                                       : std::numeric_limits<double>::infinity();
  Source labels_;
  Source predictions_;
};

}  // namespace

RuleDescription confusion_rule() {
  return {
      .name = "Confusion",
      .summary = "too few predictions of a class are right, or too many are of one other class",
      .condition =
          "per step, with C[i][j] = labels i predicted as j, of all workers, and S[i] = sum over j of C[j][i]:\n"
          "smallest C[i][i] / S[i] < min_diag; 0 for a class that has labels and is never predicted\n"
          "largest C[j][i] / S[i], j != i, > max_off_diag\n"
          "A value v is of class floor(v + 1/2), a one-hot row of labels of the one's position, a row of scores of the "
          "largest. Needs raw values.",
      .frameworks = "all",
      .collections = {"labels", "predictions"},
      .parameters = {at_least(2, {"category_no", Type::integer, no_default,
                                  "how many classes there are: 0 to one less; not given: any number"}),
                     {"labels", Type::text, "labels", "tensor of labels, or a collection that has it"},
                     {"predictions", Type::text, "predictions", "tensor of predictions, or a collection that has it"},
                     {"labels_collection", Type::text, "labels",
                      "collection of the labels, if there is no tensor of that name"},
                     {"predictions_collection", Type::text, "predictions", "collection of the predictions, likewise"},
                     between(0, 1,
                             {"min_diag", Type::number, "0.9", "least share of right predictions, of all of a class"}),
                     between(0, 1,
                             {"max_off_diag", Type::number, "0.1",
                              "greatest share of one other class in the predictions of a class"})},
      .create = create<Confusion>,
      .saves =
          [](const Parameters& parameters) {
            return Collections{
                collection_of(parameters.text("labels_collection"), {exactly(parameters.text("labels"))}),
                collection_of(parameters.text("predictions_collection"), {exactly(parameters.text("predictions"))})};
          },
  };
}

}  // namespace smd::detail::rules
