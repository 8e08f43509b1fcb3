// SPDX-License-Identifier: Apache-2.0
#include <smd/reduction.hpp>

namespace smd {

Statistics statistics(const TensorView& view) {
  constexpr std::array<Reduction, 8> wanted = {{{ReductionKind::count},
                                                {ReductionKind::min},
                                                {ReductionKind::max},
                                                {ReductionKind::mean},
                                                {ReductionKind::std},
                                                {ReductionKind::nan},
                                                {ReductionKind::inf},
                                                {ReductionKind::zero}}};
  const std::vector<ReducedValue> values = reduce(view, wanted);
  return {values[0].low,  values[1].real, values[2].real, values[3].real,
          values[4].real, values[5].low,  values[6].low,  values[7].low};
}

}  // namespace smd
