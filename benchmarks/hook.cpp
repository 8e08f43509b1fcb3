// SPDX-License-Identifier: Apache-2.0
// What saving costs. Prints {"seconds": …}, measured without the making and removing of folders.
//
//   bench_hook train INTERVAL FOLDER              the example's training loop; everything saved each INTERVAL steps,
//                                                 0: no hook
//   bench_hook write COUNT FOLDER [REDUCTIONS]    COUNT tensors of 1 MiB, eight a step; reductions beside them if named
//   bench_hook bare COUNT FOLDER                  the same bytes by write(2), eight tensors a file
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <smd/hook.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "logistic_model.hpp"

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr int tensors_a_step = 8;

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

smd::TensorView view(std::span<const float> numbers, const smd::Shape& shape) {
  return {smd::Dtype::float32, shape, std::as_bytes(numbers)};
}

/// As examples/logistic_regression.cpp, with more data: a step takes about a millisecond.
double train(int interval, const std::string& folder) {
  constexpr std::size_t samples = 8192;
  constexpr std::size_t features = 64;
  constexpr int steps = 1000;
  LogisticModel<samples, features> model;
  const smd::Shape per_feature = {1, features};
  const smd::Shape one = {1};
  const smd::Shape scalar;

  const double begin = seconds();
  std::optional<smd::Hook> hook;
  if (interval > 0) {
    hook.emplace(smd::HookConfig{.out_dir = folder, .save_config = smd::SaveConfigMode{.save_interval = interval}});
    hook->set_mode(smd::Mode::train);
  }
  for (int step = 0; step < steps; ++step) {
    model.look();
    if (hook) {
      hook->save_tensor("Logistic_fc.weight", view(model.weights, per_feature));
      hook->save_tensor("Logistic_fc.bias", view({&model.bias, 1}, one));
      hook->save_tensor("gradient/Logistic_fc.weight", view(model.gradient, per_feature));
      hook->save_tensor("gradient/Logistic_fc.bias", view({&model.bias_gradient, 1}, one));
      hook->save_tensor("BCELoss_output_0", view({&model.loss, 1}, scalar));
    }
    model.learn(0.5F);
    if (hook) {
      hook->next_step();
    }
  }
  if (hook) {
    hook->close();
  }
  return seconds() - begin;
}

std::vector<float> numbers() {
  std::vector<float> values(mebibyte / sizeof(float));
  std::mt19937 random(2);
  std::generate(values.begin(), values.end(), [&] { return static_cast<float>(random()) * 0x1p-32F; });
  return values;
}

double write(int count, const std::string& folder, const char* reductions) {
  const std::vector<float> values = numbers();
  const smd::Shape shape = {static_cast<std::int64_t>(values.size())};
  const double begin = seconds();
  smd::HookConfig config{.out_dir = folder, .save_config = smd::SaveConfigMode{.save_interval = 1}};
  if (reductions != nullptr) {
    config.reduction_config = smd::ReductionConfig::parse(reductions, true);
  }
  smd::Hook hook(config);
  for (int i = 0; i < count; ++i) {
    hook.save_tensor("tensor_" + std::to_string(i % tensors_a_step), view(values, shape));
    if ((i + 1) % tensors_a_step == 0) {
      hook.next_step();
    }
  }
  hook.close();
  return seconds() - begin;
}

double bare(int count, const std::string& folder) {
  const std::vector<float> values = numbers();
  const double begin = seconds();
  std::filesystem::create_directories(folder);
  int file = -1;
  for (int i = 0; i < count; ++i) {
    if (i % tensors_a_step == 0) {
      const std::string name = folder + "/" + std::to_string(i);
      file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    }
    if (::write(file, values.data(), mebibyte) != static_cast<ssize_t>(mebibyte)) {
      std::perror("bench_hook");
      std::exit(3);
    }
    if ((i + 1) % tensors_a_step == 0) {
      ::close(file);
    }
  }
  return seconds() - begin;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: bench_hook train|write|bare NUMBER FOLDER [REDUCTIONS]\n");
    return 2;
  }
  const std::string_view what = argv[1];
  const int number = std::atoi(argv[2]);
  const std::string folder = argv[3];
  std::filesystem::remove_all(folder);
  try {
    const double took = what == "train"   ? train(number, folder)
                        : what == "write" ? write(number, folder, argc > 4 ? argv[4] : nullptr)
                                          : bare(number, folder);
    std::printf("{\"seconds\": %.9f}\n", took);
  } catch (const smd::Error& error) {
    std::fprintf(stderr, "bench_hook: %s\n", error.what());
    return 3;
  }
  std::filesystem::remove_all(folder);
}
