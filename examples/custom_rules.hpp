// SPDX-License-Identifier: Apache-2.0
// The custom rules of SageMaker Debugger's documentation, in C++.
#pragma once

#include <smd/smd.hpp>

#include <string>

namespace custom_rules {

/// Triggers when the mean of a gradient's absolute values is almost zero.
class VanishingGradientRule final : public smd::CustomRule {
 public:
  explicit VanishingGradientRule(const smd::Trial& base_trial, const std::string& threshold = "0.0000001")
      : CustomRule(base_trial), threshold_(std::stod(threshold)) {}

  // The rule is not invoked at a step without one of these.
  void set_required_tensors(smd::GlobalStep step) override {
    for (const std::string& name : base_trial().tensor_names({.collections = {"gradients"}})) {
      req_tensors().add(name, {step});
    }
  }

  bool invoke_at_step(smd::GlobalStep step) override {
    for (const smd::Tensor& tensor : req_tensors().get()) {
      if (tensor.reduction_value(step, "mean", true).item() < threshold_) {
        return true;
      }
    }
    return false;
  }

 private:
  double threshold_;
};

/// Triggers when a gradient is too small or too large.
class CustomGradientRule final : public smd::CustomRule {
 public:
  explicit CustomGradientRule(const smd::Trial& base_trial, const std::string& min_threshold = "0",
                              const std::string& max_threshold = "10.0")
      : CustomRule(base_trial), min_threshold_(std::stod(min_threshold)), max_threshold_(std::stod(max_threshold)) {}

  // A tensor that was not saved at the step throws here, and the step is skipped.
  bool invoke_at_step(smd::GlobalStep step) override {
    for (const std::string& name : base_trial().tensor_names({.collections = {"gradients"}})) {
      const double abs_mean = base_trial().tensor(name).reduction_value(step, "mean", true).item();
      if (abs_mean < min_threshold_ || abs_mean > max_threshold_) {
        return true;
      }
    }
    return false;
  }

 private:
  double min_threshold_;
  double max_threshold_;
};

/// Triggers when a loss is far above that of another trial at the same step.
class LossAboveOtherRule final : public smd::CustomRule {
 public:
  LossAboveOtherRule(const smd::Trial& base_trial, const smd::Trial& other_trial, const std::string& factor = "2")
      : CustomRule(base_trial, R"({"name": "stoptraining", "training_job_prefix": "my-job"})", {&other_trial}),
        factor_(std::stod(factor)) {}

  // A step that the other trial has not saved yet is waited for; one that it skipped is skipped.
  void set_required_tensors(smd::GlobalStep step) override {
    for (const std::string& name : base_trial().tensor_names({.collections = {"losses"}})) {
      req_tensors().add(name, {step});
      req_tensors().add(name, {step}, other_trials()[0]);
    }
  }

  bool invoke_at_step(smd::GlobalStep step) override {
    for (const smd::Tensor& loss : req_tensors().get()) {
      const smd::Tensor other = other_trials()[0]->tensor(loss.name());
      if (loss.value(step).item() > factor_ * other.value(step).item()) {
        return true;
      }
    }
    return false;
  }

 private:
  double factor_;
};

}  // namespace custom_rules
