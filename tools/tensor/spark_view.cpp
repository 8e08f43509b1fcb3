// SPDX-License-Identifier: Apache-2.0
// --spark: a line for each scalar tensor, worker and mode, with its curve over the steps.
#include "cli/text.hpp"
#include "rows/curves.hpp"
#include "rows/elements.hpp"
#include "value_view.hpp"

#include <map>

namespace smd::tool::tensor {

namespace {

class SparkView : public ValueView {
 public:
  explicit SparkView(ViewContext context) : context_(context) { curves_.set_trial(context.trial.name()); }

  void show(const ValueKey& key, const TensorValue& value) override {
    if (!is_real(value.dtype()) || value.view().size() != 1) {
      others_.emplace(std::string(key.tensor), std::string(to_string(value.dtype())) + " " + to_string(value.shape()));
      return;
    }
    curves_.add({key.tensor, key.worker, key.mode, 0, key.step.value, key.written}, Elements(value.view()).number(0));
  }

  void finish() override {
    if (!others_.empty() && curves_.empty()) {
      const auto& [name, what] = *others_.begin();
      throw UsageError("--spark draws scalars, and " + quoted(name) + " is " + what +
                       ": pick an element with --slice, or see smd-reduce --spark");
    }
    curves_.print(context_.out, context_.options.output, false, {}, context_.messages);
    if (!others_.empty()) {
      std::vector<std::string> names;
      for (const auto& [name, what] : others_) {
        names.push_back(name);
      }
      context_.messages.note("not drawn, because not scalars: " + quoted_list(names, 3));
    }
  }

 private:
  ViewContext context_;
  Curves curves_;
  std::map<std::string, std::string> others_;
};

}  // namespace

std::unique_ptr<ValueView> make_spark_view(ViewContext context) { return std::make_unique<SparkView>(context); }

}  // namespace smd::tool::tensor
