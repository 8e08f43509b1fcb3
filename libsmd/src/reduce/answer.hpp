// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/reduction.hpp>

#include "reduce/accumulator.hpp"
#include "reduce/select.hpp"

#include <cstdint>

namespace smd::detail::reduce {

/// Which percentile a reduction that needs the values is.
[[nodiscard]] double percent_of(const Reduction& reduction);

/// What a reduction comes to, of what an accumulator holds. `in_place`: where percentiles come from if the elements
/// were not copied, else null.
[[nodiscard]] ReducedValue answer(const Accumulator& data, const Reduction& reduction, std::uint64_t ddof,
                                  Percentiles* in_place = nullptr);

}  // namespace smd::detail::reduce
