// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>
#include <smd/reduction.hpp>

#include <cstddef>
#include <span>

namespace smd_test {

/// Checks that each reduction alone, which may run other loops, gives the same bits as together with others.
inline void check_alone(const smd::TensorView& view, std::span<const smd::Reduction> wanted,
                        std::span<const smd::ReducedValue> among_others) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(smd::to_string(wanted[i]));
    CHECK(smd::to_string(smd::reduce(view, wanted.subspan(i, 1))[0]) == smd::to_string(among_others[i]));
  }
}

}  // namespace smd_test
