// SPDX-License-Identifier: Apache-2.0
#include "reduce/kernels.hpp"

#include "base/cpu_features.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

// Of x86, only the baseline, SSE4, AVX2 and AVX-512 differ enough in speed to be worth compiling. Of Arm, NEON: vectors
// of SVE have no size at compile time, so that no class can hold them.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/kernels.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

// Without guards, because this file includes them anew for each instruction set; in order of need.
// clang-format off
#include "reduce/kernels/load-inl.hpp"
#include "reduce/kernels/blocks-inl.hpp"
#include "reduce/kernels/sums-inl.hpp"
#include "reduce/kernels/stream-inl.hpp"
#include "reduce/kernels/product-inl.hpp"
#include "reduce/kernels/compare-inl.hpp"
#include "reduce/kernels/between-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace smd::detail::reduce {  // NOLINT(modernize-concat-nested-namespaces): a macro follows
namespace HWY_NAMESPACE {

extern const Kernels table;
const Kernels table = {hwy::TargetName(HWY_TARGET),
                       decode,
                       to_floats,
                       integer_range,
                       integer_decode,
                       integer_sum,
                       range_of,
                       sums,
                       stream,
                       stream_product,
                       stream_signs,
                       bits,
                       stream_bytes,
                       shift,
                       smallest_magnitude,
                       count_zero_negative,
                       product,
                       between_bounds<float>,
                       between_bounds<double>,
                       compare,
                       square_sum};

}  // namespace HWY_NAMESPACE
}  // namespace smd::detail::reduce
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace smd::detail::reduce {
namespace {

#if HWY_ARCH_X86 && (HWY_TARGETS & HWY_AVX2)
// Clang 14 does not support this feature's name.
bool has_f16c() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}
#endif

std::atomic<const Kernels*> current = nullptr;

}  // namespace

std::vector<const Kernels*> available_kernels() {
  std::vector<const Kernels*> found;
#if HWY_ARCH_X86
#if HWY_TARGETS & HWY_AVX3
  if (SMD_CPU_HAS(AVX512F, "avx512f") && SMD_CPU_HAS(AVX512VL, "avx512vl") && SMD_CPU_HAS(AVX512BW, "avx512bw") &&
      SMD_CPU_HAS(AVX512DQ, "avx512dq") && SMD_CPU_HAS(AVX512CD, "avx512cd")) {
    found.push_back(&N_AVX3::table);
  }
#endif
#if HWY_TARGETS & HWY_AVX2
  if (SMD_CPU_HAS(AVX2, "avx2") && SMD_CPU_HAS(FMA, "fma") && SMD_CPU_HAS(BMI1, "bmi") && SMD_CPU_HAS(BMI2, "bmi2") &&
      has_f16c()) {
    found.push_back(&N_AVX2::table);
  }
#endif
#if HWY_TARGETS & HWY_SSE4
  if (SMD_CPU_HAS(SSE4_2, "sse4.2") && SMD_CPU_HAS(PCLMULQDQ, "pclmul") && SMD_CPU_HAS(AES, "aes")) {
    found.push_back(&N_SSE4::table);
  }
#endif
#endif
  found.push_back(&HWY_STATIC_DISPATCH(table));
  return found;
}

const Kernels& kernels() noexcept {
  const Kernels* chosen = current.load(std::memory_order_acquire);
  if (chosen == nullptr) {
    chosen = available_kernels().front();
    current.store(chosen, std::memory_order_release);
  }
  return *chosen;
}

void choose_kernels(const Kernels& chosen) noexcept { current.store(&chosen, std::memory_order_release); }

}  // namespace smd::detail::reduce
#endif
