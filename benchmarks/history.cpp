// SPDX-License-Identifier: Apache-2.0
// The whole history of one scalar, through the public interface of the library: `history TRIAL TENSOR` opens the
// trial, reads all values, and prints both times as one JSON object.
#include <chrono>
#include <cstdio>
#include <exception>
#include <smd/smd.hpp>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::fputs("usage: history TRIAL TENSOR\n", stderr);
    return 2;
  }
  auto start = Clock::now();
  const smd::Trial trial = smd::Trial::open(argv[1]);
  const double open = seconds_since(start);
  double values = 0;
  std::size_t count = 0;
  for (int round = 0; round < 5; ++round) {
    start = Clock::now();
    count = trial.tensor(argv[2]).values().size();
    const double took = seconds_since(start);
    values = round == 0 || took < values ? took : values;
  }
  std::printf("{\"open_s\": %.6f, \"values_s\": %.6f, \"values\": %zu}\n", open, values, count);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "history: %s\n", error.what());
  return 3;
}
