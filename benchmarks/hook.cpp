// SPDX-License-Identifier: Apache-2.0
// The cost of saving. Prints a JSON object: for each variant, by name, the runs, each [seconds, seconds of processor
// time of all threads, seconds of processor time of the calling thread]. The variants take turns, beginning with
// another one each time, after one turn to warm up. Creating and removing folders is not counted; the hook's start and
// close are.
//
// clang-format off
//   bench_hook train TURNS FOLDER          a training loop without a hook (twice, to show the noise) and with one
//   bench_hook write TURNS FOLDER COUNT    COUNT tensors of 1 MiB, eight a step, by write(2) and by the hook
// clang-format on
//
// Files of the training loops are removed at the end: for seconds after many files were removed, ext4 takes up to ten
// times as long to create one (it skips recently freed inodes one by one).
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
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

using Run = std::array<double, 3>;

Run now() {
  const auto clock = [](clockid_t which) {
    timespec time{};
    clock_gettime(which, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  return {clock(CLOCK_MONOTONIC), clock(CLOCK_PROCESS_CPUTIME_ID), clock(CLOCK_THREAD_CPUTIME_ID)};
}

struct Way {
  std::string name;
  std::function<void(const std::string& folder)> run;
  std::vector<Run> runs;
};

void take_turns(std::vector<Way>& ways, int turns, const std::string& folder, bool keep) {
  std::filesystem::remove_all(folder);
  int count = 0;
  for (int turn = -1; turn < turns; ++turn) {
    for (std::size_t i = 0; i < ways.size(); ++i) {
      Way& way = ways[(i + static_cast<std::size_t>(turn + 1)) % ways.size()];
      const std::string to = folder + "/" + std::to_string(count++);
      std::filesystem::create_directories(folder);
      const Run begin = now();
      way.run(to);
      Run took = now();
      if (!keep) {
        std::filesystem::remove_all(to);
      }
      for (std::size_t clock = 0; clock < took.size(); ++clock) {
        took[clock] -= begin[clock];
      }
      if (turn >= 0) {
        way.runs.push_back(took);
      }
    }
  }
  std::filesystem::remove_all(folder);
}

void print(const std::vector<Way>& ways) {
  const char* before = "{";
  for (const Way& way : ways) {
    std::printf("%s\"%s\": [", before, way.name.c_str());
    before = ", ";
    for (std::size_t i = 0; i < way.runs.size(); ++i) {
      const Run& run = way.runs[i];
      std::printf("%s[%.9f, %.9f, %.9f]", i == 0 ? "" : ", ", run[0], run[1], run[2]);
    }
    std::printf("]");
  }
  std::printf("}\n");
}

smd::TensorView view(std::span<const float> numbers, const smd::Shape& shape) {
  return {smd::Dtype::float32, shape, std::as_bytes(numbers)};
}

/// The loop of examples/logistic_regression.cpp with more data: a step takes half a millisecond.
void train(int interval, const std::string& folder) {
  constexpr std::size_t samples = 8192;
  constexpr std::size_t features = 64;
  constexpr int steps = 1000;
  static const LogisticModel<samples, features> untrained;
  LogisticModel<samples, features> model = untrained;
  const smd::Shape per_feature = {1, features};
  const smd::Shape one = {1};
  const smd::Shape scalar;

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
}

std::vector<float> numbers() {
  std::vector<float> values(mebibyte / sizeof(float));
  std::mt19937 random(2);
  std::generate(values.begin(), values.end(), [&] { return static_cast<float>(random()) * 0x1p-32F; });
  return values;
}

void write(int count, const std::string& folder, const std::vector<float>& values, const char* reductions, bool raw) {
  const smd::Shape shape = {static_cast<std::int64_t>(values.size())};
  smd::HookConfig config{.out_dir = folder, .save_config = smd::SaveConfigMode{.save_interval = 1}};
  if (reductions != nullptr) {
    config.reduction_config = smd::parse_reduction_config(reductions, true);
    config.reduction_config->save_raw_tensor = raw;
  }
  smd::Hook hook(config);
  for (int i = 0; i < count; ++i) {
    hook.save_tensor("tensor_" + std::to_string(i % tensors_a_step), view(values, shape));
    if ((i + 1) % tensors_a_step == 0) {
      hook.next_step();
    }
  }
  hook.close();
}

/// Writes the same bytes, eight tensors per file.
void bare(int count, const std::string& folder, const std::vector<float>& values) {
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
}

std::vector<Way> training() {
  const auto way = [](const char* name, int interval) {
    return Way{name, [interval](const std::string& folder) { train(interval, folder); }, {}};
  };
  return {way("without", 0), way("without, again", 0), way("each 10", 10), way("each 200", 200)};
}

std::vector<Way> writing(int count) {
  constexpr const char* six = "min,max,mean,std,l2,abs_mean";
  const auto values = std::make_shared<const std::vector<float>>(numbers());
  const auto way = [=](const char* name, const char* reductions, bool raw) {
    return Way{name, [=](const std::string& folder) { write(count, folder, *values, reductions, raw); }, {}};
  };
  return {{"bare", [=](const std::string& folder) { bare(count, folder, *values); }, {}},
          way("hook", nullptr, true),
          way("beside", six, true),
          way("instead", six, false)};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (!((what == "train" && argc == 4) || (what == "write" && argc == 5))) {
    std::fprintf(stderr, "usage: bench_hook train TURNS FOLDER | write TURNS FOLDER COUNT\n");
    return 2;
  }
  const std::string folder = argv[3];
  try {
    std::vector<Way> ways = what == "train" ? training() : writing(std::atoi(argv[4]));
    take_turns(ways, std::atoi(argv[2]), folder, what == "train");
    print(ways);
  } catch (const smd::Error& error) {
    std::fprintf(stderr, "bench_hook: %s\n", error.what());
    return 3;
  }
}
