// SPDX-License-Identifier: Apache-2.0
// Trains a logistic regression by gradient descent on data made up here, and saves what it does: the smallest program
// with a hook in it.
//
//   logistic_regression TRIAL [healthy|sick] [STEPS] [HOOK.json]
//
// `sick` learns 10,000 times as fast as is good for it: weights and loss jump about instead of settling. The
// hook saves every tenth step, or what HOOK.json says.
#include <smd/hook.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t samples = 512;
constexpr std::size_t features = 16;

smd::TensorView view(std::span<const float> numbers, const smd::Shape& shape) {
  return {smd::Dtype::float32, shape, std::as_bytes(numbers)};
}

/// Points of two overlapping clouds, and which of them each is of.
struct Data {
  std::vector<float> points = std::vector<float>(samples * features);
  std::vector<float> labels = std::vector<float>(samples);

  Data() {
    std::mt19937 random(1);
    std::normal_distribution<float> noise;
    for (std::size_t i = 0; i < samples; ++i) {
      labels[i] = static_cast<float>(i % 2);
      for (std::size_t j = 0; j < features; ++j) {
        points[i * features + j] = noise(random) + (labels[i] - 0.5F) * (j % 3 == 0 ? 1.5F : 0.2F);
      }
    }
  }
};

int train(const std::string& trial, bool sick, int steps, const char* configuration) {
  smd::HookConfig config;
  if (configuration != nullptr) {
    config = smd::HookConfig::load(configuration);
  } else {
    config.save_config = smd::SaveConfigMode{.save_interval = 10};
  }
  config.out_dir = trial;
  smd::Hook hook(config);

  const Data data;
  const float rate = sick ? 5000.0F : 0.5F;
  std::vector<float> weights(features);
  std::vector<float> gradient(features);
  float bias = 0;
  const smd::Shape per_feature = {1, features};
  const smd::Shape one = {1};
  const smd::Shape scalar;

  hook.set_mode(smd::Mode::train);
  for (int step = 0; step < steps; ++step) {
    float loss = 0;
    float bias_gradient = 0;
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    for (std::size_t i = 0; i < samples; ++i) {
      float sum = bias;
      for (std::size_t j = 0; j < features; ++j) {
        sum += weights[j] * data.points[i * features + j];
      }
      // log(1 + exp(sum)) - label * sum, without overflow
      loss += std::max(sum, 0.0F) + std::log1p(std::exp(-std::fabs(sum))) - data.labels[i] * sum;
      const float error = 1 / (1 + std::exp(-sum)) - data.labels[i];
      for (std::size_t j = 0; j < features; ++j) {
        gradient[j] += error * data.points[i * features + j] / samples;
      }
      bias_gradient += error / samples;
    }
    loss /= samples;
    // Names as PyTorch's hook has them: the built-in collections find them by these.
    hook.save_tensor("Logistic_fc.weight", view(weights, per_feature));
    hook.save_tensor("Logistic_fc.bias", view({&bias, 1}, one));
    hook.save_tensor("gradient/Logistic_fc.weight", view(gradient, per_feature));
    hook.save_tensor("gradient/Logistic_fc.bias", view({&bias_gradient, 1}, one));
    hook.save_tensor("BCELoss_output_0", view({&loss, 1}, scalar));
    for (std::size_t j = 0; j < features; ++j) {
      weights[j] -= rate * gradient[j];
    }
    bias -= rate * bias_gradient;
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
