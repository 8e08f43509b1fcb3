// SPDX-License-Identifier: Apache-2.0
#include "reduce/groups.hpp"

#include <smd/error.hpp>

#include <string>

namespace smd::detail::reduce {
namespace {

Groups groups_of(const Reduction& reduction) {
  Groups groups;
  switch (reduction.kind) {
    case ReductionKind::min:
      groups.abs_min = reduction.abs;
      break;
    case ReductionKind::median:
    case ReductionKind::percentile:
      groups.values = true;
      break;
    case ReductionKind::mean:
    case ReductionKind::sum:
      (reduction.abs ? groups.magnitudes : groups.sum) = true;
      break;
    case ReductionKind::std:
    case ReductionKind::variance:
      groups.sum = groups.moments = true;
      groups.magnitudes = groups.abs_moments = reduction.abs;
      break;
    case ReductionKind::l1:
      groups.magnitudes = true;
      break;
    case ReductionKind::l2:
    case ReductionKind::rms:
      groups.sum = groups.moments = true;
      break;
    case ReductionKind::prod:
      groups.product = true;
      break;
    case ReductionKind::zero:
    case ReductionKind::negative:
    case ReductionKind::zero_fraction:
      groups.signs = true;
      break;
    case ReductionKind::max:
    case ReductionKind::count:
    case ReductionKind::finite:
    case ReductionKind::nan:
    case ReductionKind::inf:
    case ReductionKind::posinf:
    case ReductionKind::neginf:
    case ReductionKind::nan_fraction:
      break;  // always computed
  }
  return groups;
}

}  // namespace

Groups both(const Groups& a, const Groups& b) {
  return {a.sum || b.sum,         a.moments || b.moments, a.magnitudes || b.magnitudes, a.abs_moments || b.abs_moments,
          a.abs_min || b.abs_min, a.product || b.product, a.signs || b.signs,           a.values || b.values};
}

Groups groups_of(std::span<const Reduction> wanted) {
  Groups groups;
  for (const Reduction& reduction : wanted) {
    const bool percent_fits = reduction.percent >= 0 && reduction.percent <= 100;
    if (!percent_fits || (reduction.abs && !facts_of(reduction.kind).abs)) {
      throw InvalidArgument("no such reduction: " + to_string(reduction));
    }
    groups = both(groups, groups_of(reduction));
  }
  return groups;
}

}  // namespace smd::detail::reduce
