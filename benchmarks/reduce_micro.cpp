// SPDX-License-Identifier: Apache-2.0
// Speed of reductions in memory, as ratios to memcpy and to a loop that only reads, measured in the same run. Each
// result is the best of many rounds; the three are measured in turns, so that a slower machine affects all.
#include <smd/elements.hpp>
#include <smd/reduction.hpp>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <span>
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
    smd::visit_element_type(type, [&]<class Stored>(std::type_identity<Stored>) {
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

// The least that sums in double precision take of bfloat16: conversions, the sum, and that of squares, rounded as they
// come, without extremes. It bounds what a kernel can reach on a machine. `count`: a multiple of 32.
#ifdef __x86_64__
__attribute__((target("avx512f"))) double least_avx512(const std::byte* bytes, std::size_t count) {
  __m512d sum0 = _mm512_setzero_pd(), sum1 = sum0, square0 = sum0, square1 = sum0, square2 = sum0, square3 = sum0;
  const __m256i upper = _mm256_set1_epi32(static_cast<int>(0xFFFF0000U));
  for (std::size_t i = 0; i < count; i += 32) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 2 * i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 2 * i + 32));
    const __m512d v0 = _mm512_maskz_cvtps_pd(0xFF, _mm256_castsi256_ps(_mm256_slli_epi32(a, 16)));
    const __m512d v1 = _mm512_maskz_cvtps_pd(0xFF, _mm256_castsi256_ps(_mm256_and_si256(a, upper)));
    const __m512d v2 = _mm512_maskz_cvtps_pd(0xFF, _mm256_castsi256_ps(_mm256_slli_epi32(b, 16)));
    const __m512d v3 = _mm512_maskz_cvtps_pd(0xFF, _mm256_castsi256_ps(_mm256_and_si256(b, upper)));
    sum0 = _mm512_add_pd(sum0, _mm512_add_pd(v0, v1));
    sum1 = _mm512_add_pd(sum1, _mm512_add_pd(v2, v3));
    square0 = _mm512_fmadd_pd(v0, v0, square0);
    square1 = _mm512_fmadd_pd(v1, v1, square1);
    square2 = _mm512_fmadd_pd(v2, v2, square2);
    square3 = _mm512_fmadd_pd(v3, v3, square3);
  }
  alignas(64) double lanes[8];
  _mm512_store_pd(lanes, _mm512_add_pd(_mm512_add_pd(sum0, sum1), _mm512_add_pd(_mm512_add_pd(square0, square1),
                                                                                _mm512_add_pd(square2, square3))));
  return std::accumulate(lanes, lanes + 8, 0.0);
}
__attribute__((target("avx2,fma"))) double least_avx2(const std::byte* bytes, std::size_t count) {
  __m256d sum0 = _mm256_setzero_pd(), sum1 = sum0, square0 = sum0, square1 = sum0, square2 = sum0, square3 = sum0;
  const __m128i upper = _mm_set1_epi32(static_cast<int>(0xFFFF0000U));
  for (std::size_t i = 0; i < count; i += 16) {
    const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 2 * i));
    const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 2 * i + 16));
    const __m256d v0 = _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(a, 16)));
    const __m256d v1 = _mm256_cvtps_pd(_mm_castsi128_ps(_mm_and_si128(a, upper)));
    const __m256d v2 = _mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32(b, 16)));
    const __m256d v3 = _mm256_cvtps_pd(_mm_castsi128_ps(_mm_and_si128(b, upper)));
    sum0 = _mm256_add_pd(sum0, _mm256_add_pd(v0, v1));
    sum1 = _mm256_add_pd(sum1, _mm256_add_pd(v2, v3));
    square0 = _mm256_fmadd_pd(v0, v0, square0);
    square1 = _mm256_fmadd_pd(v1, v1, square1);
    square2 = _mm256_fmadd_pd(v2, v2, square2);
    square3 = _mm256_fmadd_pd(v3, v3, square3);
  }
  alignas(32) double lanes[4];
  _mm256_store_pd(lanes, _mm256_add_pd(_mm256_add_pd(sum0, sum1), _mm256_add_pd(_mm256_add_pd(square0, square1),
                                                                                _mm256_add_pd(square2, square3))));
  return std::accumulate(lanes, lanes + 4, 0.0);
}

void least(std::string_view target, const std::vector<std::byte>& bytes, int rounds) {
  const auto loop = target == "AVX3" ? least_avx512 : target == "AVX2" ? least_avx2 : nullptr;
  if (loop == nullptr) {
    return;
  }
  std::vector<std::byte> copy(bytes.size());
  Speeds best;
  for (int round = 0; round < rounds; ++round) {
    best.work = std::min(best.work, seconds([&] { sink = sink + (loop(bytes.data(), bytes.size() / 2) > 0 ? 1 : 0); }));
    best.copy = std::min(best.copy, seconds([&] {
                           std::memcpy(copy.data(), bytes.data(), bytes.size());
                           sink = sink + static_cast<std::uint64_t>(copy[bytes.size() / 2]);
                         }));
  }
  const auto gigabytes = static_cast<double>(bytes.size()) * 1e-9;
  std::printf("least loop of bfloat16, 1 MiB: %.1f GB/s, %.2f of memcpy (%.1f)\n", gigabytes / best.work,
              best.copy / best.work, gigabytes / best.copy);
}
#else
void least(std::string_view, const std::vector<std::byte>&, int) {}
#endif

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

// Reads a file of 16-bit floats in one thread, with and without a look at extremes and counts.
void pass(const char* path, Dtype type) {
  constexpr std::size_t block = std::size_t{256} << 10;
  const int file = ::open(path, O_RDONLY | O_CLOEXEC);
  std::vector<std::byte> bytes(block);
  const std::vector<smd::Reduction> wanted = parse("nan,inf,min,max,zero");
  off_t size = 0;
  const auto read = [&](smd::Reducer* reducer) {
    for (size = 0; const auto got = ::pread(file, bytes.data(), block, size);) {
      if (got < 0) {
        std::exit(3);
      }
      size += got;
      if (reducer != nullptr) {
        reducer->add(type, std::span(bytes).first(static_cast<std::size_t>(got)));
      }
    }
  };
  double with = 1e9;
  double without = 1e9;
  for (int round = 0; round < 7; ++round) {
    smd::Reducer reducer(wanted);
    with = std::min(with, seconds([&] { read(&reducer); }));
    without = std::min(without, seconds([&] { read(nullptr); }));
    sink = sink + reducer.result(wanted.back()).low;
  }
  ::close(file);
  const double gigabytes = static_cast<double>(size) * 1e-9;
  std::printf("pread and nan,inf,min,max,zero: %.2f GB/s, pread %.2f\n", gigabytes / with, gigabytes / without);
}

}  // namespace

// Arguments: an instruction set other than the best (AVX2, SSE4, …; best), and a file of 16-bit floats with their type.
int main(int argc, char** argv) {
  for (const smd::detail::reduce::Kernels* kernels : smd::detail::reduce::available_kernels()) {
    if (argc > 1 && std::string_view(argv[1]) == kernels->name) {
      smd::detail::reduce::choose_kernels(*kernels);
    }
  }
  std::printf("instruction set: %s\n", smd::detail::reduce::kernels().name);
  if (argc > 3) {
    pass(argv[2], smd::dtype_from_name(argv[3]).value());
    return 0;
  }
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
  least(smd::detail::reduce::kernels().name, numbers(Dtype::bfloat16, small), 2000);
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
