// SPDX-License-Identifier: Apache-2.0
// Speed of reductions in memory, as ratios to memcpy and to a loop that only reads, measured in the same run. Each
// result is the best of many rounds; the three are measured in turns, so that a slower machine affects all.
#include <smd/elements.hpp>
#include <smd/reduction.hpp>

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "reduce/kernels.hpp"

namespace {

using smd::Dtype;

volatile std::uint64_t sink;  // keeps results from being optimised away

// Reads every byte, in vectors of 16, eight of them independent.
std::uint64_t read_all(const std::byte* bytes, std::size_t size) {
  using Vector = std::uint64_t __attribute__((vector_size(16)));
  Vector words[8] = {};
  for (std::size_t i = 0; i + sizeof words <= size; i += sizeof words) {
    for (int k = 0; k < 8; ++k) {
      Vector next;
      std::memcpy(&next, bytes + i + static_cast<std::size_t>(k) * sizeof next, sizeof next);
      words[k] ^= next;
    }
  }
  std::uint64_t all = 0;
  for (const Vector& word : words) {
    all ^= word[0] ^ word[1];
  }
  return all;
}

// Wall time: a virtual machine may count too little of a thread's own time, and the best of many rounds would select
// such a count.
template <class Work>
double seconds(const Work& work) {
  const auto now = [] {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double start = now();
  work();
  return now() - start;
}

std::vector<smd::Reduction> parse(std::string_view list) {
  std::vector<smd::Reduction> wanted;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    wanted.push_back(smd::parse_reduction(list.substr(0, comma)).value());
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return wanted;
}

// The sum of three uniform numbers: approximately normal.
double bell(std::uint64_t& state) {
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    sum += static_cast<double>(state >> 33) * 0x1p-31 - 0.5;
  }
  return sum;
}

std::vector<std::byte> numbers(Dtype type, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint64_t state = 1;
  const std::size_t item = smd::item_size(type);
  const std::size_t pattern = std::min(size, std::size_t{1} << 20);
  for (std::size_t at = 0; at + item <= pattern; at += item) {
    const double value = bell(state);
    const auto single = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    const auto whole = static_cast<std::int64_t>(value * (item == 1 ? 80 : 1e12));
    smd::visit_element_type(type, [&]<class Stored>(smd::ElementType<Stored>) {
      if constexpr (std::is_same_v<Stored, float>) {
        std::memcpy(&bytes[at], &single, item);
      } else if constexpr (std::is_same_v<Stored, double>) {
        std::memcpy(&bytes[at], &value, item);
      } else if constexpr (std::is_same_v<Stored, smd::BFloat16>) {
        const auto half = static_cast<std::uint16_t>(bits >> 16);
        std::memcpy(&bytes[at], &half, item);
      } else if constexpr (std::is_same_v<Stored, smd::Half>) {
        // Sign, and exponent and fraction cut to five and ten bits; numbers that are too small become 0.
        const std::uint32_t moved = bits & 0x7FFFFFFFU;
        const auto half = static_cast<std::uint16_t>((moved < (113U << 23) ? 0 : (moved - (112U << 23)) >> 13) |
                                                     (bits >> 16 & 0x8000U));
        std::memcpy(&bytes[at], &half, item);
      } else if constexpr (std::is_integral_v<Stored> || std::is_same_v<Stored, smd::Float8>) {
        std::memcpy(&bytes[at], &whole, item);  // little-endian: the low bytes
      } else {
        smd::refuse_elements(type);
      }
    });
  }
  for (std::size_t at = pattern; at < size; at += pattern) {
    std::memcpy(&bytes[at], bytes.data(), std::min(pattern, size - at));
  }
  return bytes;
}

struct Speeds {
  double work = 1e9;
  double copy = 1e9;
  double read = 1e9;
};

Speeds measure(Dtype type, const std::vector<std::byte>& bytes, std::vector<std::byte>& target,
               const std::vector<smd::Reduction>& wanted, int rounds) {
  const auto count = static_cast<std::int64_t>(bytes.size() / smd::item_size(type));
  const smd::TensorView view(type, {&count, 1}, bytes);
  Speeds best;
  for (int round = 0; round < rounds; ++round) {
    best.work = std::min(best.work, seconds([&] {
                           for (const smd::ReducedValue& value : smd::reduce(view, wanted)) {
                             sink = sink + value.low + (value.real > 0 ? 1 : 0);
                           }
                         }));
    best.copy = std::min(best.copy, seconds([&] {
                           std::memcpy(target.data(), bytes.data(), bytes.size());
                           sink = sink + static_cast<std::uint64_t>(target[bytes.size() / 2]);
                         }));
    best.read = std::min(best.read, seconds([&] { sink = sink + read_all(bytes.data(), bytes.size()); }));
  }
  return best;
}

struct Type {
  const char* name;
  Dtype type;
};
constexpr Type types[] = {{"float32", Dtype::float32},   {"float64", Dtype::float64}, {"float16", Dtype::float16},
                          {"bfloat16", Dtype::bfloat16}, {"int8", Dtype::int8},       {"int64", Dtype::int64}};

constexpr std::string_view six = "min,max,mean,std,l2,abs_mean";
constexpr std::string_view of_halves = "min,max,mean,std,l2,nan";
constexpr std::string_view of_halves_too = "min,max,mean,std,l2,nan,abs_mean";
constexpr std::string_view four = "min,max,mean,std";
constexpr std::string_view twenty =
    "min,max,median,mean,std,variance,sum,prod,l1,l2,abs_min,abs_max,abs_median,abs_mean,abs_std,abs_variance,abs_sum,"
    "abs_prod,abs_l1,abs_l2";
constexpr std::string_view eighteen =
    "min,max,mean,std,variance,sum,prod,l1,l2,abs_min,abs_max,abs_mean,abs_std,abs_variance,abs_sum,abs_prod,abs_l1,"
    "abs_l2";

void table(std::size_t size, int rounds) {
  std::vector<std::byte> target(size);
  std::printf("%zu MiB: six reductions (%s)\n", size >> 20, std::string(six).c_str());
  for (const Type& type : types) {
    const std::vector<std::byte> bytes = numbers(type.type, size);
    const Speeds six_cost = measure(type.type, bytes, target, parse(six), rounds);
    const auto gigabytes = static_cast<double>(size) * 1e-9;
    std::printf("  %-9s %6.1f GB/s  %5.2f of memcpy (%.1f)  %5.2f of reading (%.1f)\n", type.name,
                gigabytes / six_cost.work, six_cost.copy / six_cost.work, gigabytes / six_cost.copy,
                six_cost.read / six_cost.work, gigabytes / six_cost.read);
  }
}

}  // namespace

int main(int argc, char** argv) {
  // An argument selects an instruction set other than the best: AVX2, SSE4, ….
  for (const smd::detail::reduce::Kernels* kernels : smd::detail::reduce::available_kernels()) {
    if (argc > 1 && std::string_view(argv[1]) == kernels->name) {
      smd::detail::reduce::choose_kernels(*kernels);
    }
  }
  std::printf("instruction set: %s\n", smd::detail::reduce::kernels().name);
  constexpr std::size_t small = std::size_t{1} << 20;
  table(small, 2000);
  table(small << 8, 8);
  std::vector<std::byte> target(small);
  for (const std::string_view list : {of_halves, of_halves_too}) {
    for (const Type& type : {types[3], types[2]}) {
      const Speeds cost = measure(type.type, numbers(type.type, small), target, parse(list), 2000);
      const auto gigabytes = static_cast<double>(small) * 1e-9;
      std::printf("%s of %s, 1 MiB: %.1f GB/s, %.2f of memcpy (%.1f)\n", std::string(list).c_str(), type.name,
                  gigabytes / cost.work, cost.copy / cost.work, gigabytes / cost.copy);
    }
  }
  for (const Type& type : {types[0], types[1]}) {
    const std::vector<std::byte> bytes = numbers(type.type, small);
    const double base = measure(type.type, bytes, target, parse(four), 1000).work;
    const double no_median = measure(type.type, bytes, target, parse(eighteen), 1000).work;
    const double all = measure(type.type, bytes, target, parse(twenty), 1000).work;
    std::printf("%s, 1 MiB: min,max,mean,std %.0f us; all twenty %.2f times that, without the medians %.2f times\n",
                type.name, base * 1e6, all / base, no_median / base);
  }
  return 0;
}
