// SPDX-License-Identifier: Apache-2.0
// --spark: a line for each scalar tensor, worker and mode, with its curve over the steps. -f svg: a chart of them.
#include "cli/text.hpp"
#include "rows/curves.hpp"
#include "rows/elements.hpp"
#include "value_view.hpp"

#include <map>

namespace smd::tool::tensor {

namespace {

class SparkView : public ValueView {
 public:
  explicit SparkView(ViewContext context)
      : options_(context.options),
        messages_(context.messages),
        curves_(context.out, context.options.output, context.options.picture, context.several_trials,
                context.options.following.follow, {}, context.messages) {}

  void set_trial(std::string_view name) override { curves_.set_trial(name); }

  void end_step() override { curves_.end_step(); }

  void show(const ValueKey& key, const TensorValue& value) override {
    if (!is_real(value.dtype()) || value.view().size() != 1) {
      others_.emplace(std::string(key.tensor), std::string(to_string(value.dtype())) + " " + to_string(value.shape()));
      return;
    }
    Curves::Point point = {.tensor = key.tensor,
                           .worker = key.worker,
                           .mode = key.mode,
                           .step = key.step.value,
                           .mode_step = key.mode_step.value,
                           .written = key.written};
    curves_.add(point, Elements(value.view()).number(0));
    if (key.smooth) {
      point.smooth = true;
      curves_.add(point, *key.smooth);
    }
  }

  void finish() override {
    if (!others_.empty() && curves_.empty()) {
      const auto& [name, what] = *others_.begin();
      const bool svg = options_.svg();
      std::string text = svg ? "-f svg" : "--spark";
      text += " draws scalars, and " + single_quoted(name) + " is " + what + ": pick an element with --slice, or see ";
      throw UsageError(text += svg ? "--hist, --heatmap and smd-reduce -f svg" : "smd-reduce --spark");
    }
    curves_.finish({});
    if (!others_.empty()) {
      std::vector<std::string> names;
      for (const auto& [name, what] : others_) {
        names.push_back(name);
      }
      messages_.note("not drawn, because not scalars: " + quoted_list(names, 3));
    }
  }

 private:
  const TensorOptions& options_;
  Diagnostics& messages_;
  CurvesView curves_;
  std::map<std::string, std::string> others_;
};

}  // namespace

std::unique_ptr<ValueView> make_spark_view(ViewContext context) { return std::make_unique<SparkView>(context); }

}  // namespace smd::tool::tensor
