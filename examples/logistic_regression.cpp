// SPDX-License-Identifier: Apache-2.0
// Trains a logistic regression by gradient descent on generated data, and saves tensors: a minimal program with a
// hook.
//
//   logistic_regression TRIAL [healthy|sick] [STEPS] [HOOK.json]
//
// `sick` uses a learning rate that is 10,000 times too large, so weights and loss jump instead of converging. The hook
// saves every tenth step, or what HOOK.json says.
#include <smd/hook.hpp>

#include "logistic_model.hpp"

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t samples = 512;
constexpr std::size_t features = 16;

smd::TensorView view(std::span<const float> numbers, const smd::Shape& shape) {
  return {smd::Dtype::float32, shape, std::as_bytes(numbers)};
}

int train(const std::string& trial, bool sick, int steps, const char* configuration) {
  smd::HookConfig config;
  if (configuration != nullptr) {
    config = smd::HookConfig::load(configuration);
  } else {
    config.save_config = smd::SaveConfigMode{.save_interval = 10};
  }
  config.out_dir = trial;
  smd::Hook hook(config);

  LogisticModel<samples, features> model;
  const float rate = sick ? 5000.0F : 0.5F;
  const smd::Shape per_feature = {1, features};
  const smd::Shape one = {1};
  const smd::Shape scalar;

  hook.set_mode(smd::Mode::train);
  for (int step = 0; step < steps; ++step) {
    model.look();
    // PyTorch's names, which the patterns of the built-in collections match.
    hook.save_tensor("Logistic_fc.weight", view(model.weights, per_feature));
    hook.save_tensor("Logistic_fc.bias", view({&model.bias, 1}, one));
    hook.save_tensor("gradient/Logistic_fc.weight", view(model.gradient, per_feature));
    hook.save_tensor("gradient/Logistic_fc.bias", view({&model.bias_gradient, 1}, one));
    hook.save_tensor("BCELoss_output_0", view({&model.loss, 1}, scalar));
    model.learn(rate);
    hook.next_step();
  }
  hook.close();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view health = argc > 2 ? argv[2] : "healthy";
  if (argc < 2 || argc > 5 || (health != "healthy" && health != "sick")) {
    std::fprintf(stderr, "usage: logistic_regression TRIAL [healthy|sick] [STEPS] [HOOK.json]\n");
    return 2;
  }
  try {
    return train(argv[1], health == "sick", argc > 3 ? std::atoi(argv[3]) : 400, argc > 4 ? argv[4] : nullptr);
  } catch (const smd::Error& error) {
    std::fprintf(stderr, "logistic_regression: %s\n", error.what());
    return 3;
  }
}
