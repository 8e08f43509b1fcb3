// SPDX-License-Identifier: Apache-2.0
// The model to train: a logistic regression, with generated data. It does not depend on hooks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

template <std::size_t samples, std::size_t features>
class LogisticModel {
 public:
  /// Generates points of two overlapping clouds, each labelled with its cloud.
  LogisticModel() {
    std::mt19937 random(1);
    std::normal_distribution<float> noise;
    for (std::size_t i = 0; i < samples; ++i) {
      labels_[i] = static_cast<float>(i % 2);
      for (std::size_t j = 0; j < features; ++j) {
        points_[i * features + j] = noise(random) + (labels_[i] - 0.5F) * (j % 3 == 0 ? 1.5F : 0.2F);
      }
    }
  }

  /// Computes loss and gradient at the current weights.
  void look() {
    loss = 0;
    bias_gradient = 0;
    std::fill(gradient.begin(), gradient.end(), 0.0F);
    for (std::size_t i = 0; i < samples; ++i) {
      float sum = bias;
      for (std::size_t j = 0; j < features; ++j) {
        sum += weights[j] * points_[i * features + j];
      }
      // log(1 + exp(sum)) - label * sum, without overflow
      loss += std::max(sum, 0.0F) + std::log1p(std::exp(-std::fabs(sum))) - labels_[i] * sum;
      const float error = 1 / (1 + std::exp(-sum)) - labels_[i];
      for (std::size_t j = 0; j < features; ++j) {
        gradient[j] += error * points_[i * features + j] / samples;
      }
      bias_gradient += error / samples;
    }
    loss /= samples;
  }

  /// One step down the gradient.
  void learn(float rate) {
    for (std::size_t j = 0; j < features; ++j) {
      weights[j] -= rate * gradient[j];
    }
    bias -= rate * bias_gradient;
  }

  std::vector<float> weights = std::vector<float>(features);
  std::vector<float> gradient = std::vector<float>(features);
  float bias = 0;
  float bias_gradient = 0;
  float loss = 0;

 private:
  std::vector<float> points_ = std::vector<float>(samples * features);
  std::vector<float> labels_ = std::vector<float>(samples);
};
