// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include "reduce/kernels.hpp"

namespace smd_test {

/// Calls check() with the kernels of each instruction set of this machine, first with the default ones.
template <class Check>
void with_each_instruction_set(const Check& check) {
  const auto available = smd::detail::reduce::available_kernels();
  for (const smd::detail::reduce::Kernels* kernels : available) {
    smd::detail::reduce::choose_kernels(*kernels);
    CAPTURE(kernels->name);
    check();
  }
  smd::detail::reduce::choose_kernels(*available.front());
}

}  // namespace smd_test
