// SPDX-License-Identifier: Apache-2.0
#include "reduction_list.hpp"

#include "cli/errors.hpp"
#include "cli/text.hpp"
#include "rows/buckets.hpp"

#include <algorithm>
#include <array>

namespace smd::tool::reduce {

namespace {

constexpr std::array<std::string_view, 10> plain = {"min",      "max", "median", "mean", "std",
                                                    "variance", "sum", "prod",   "l1",   "l2"};
constexpr std::array<std::string_view, 11> further = {
    "count", "finite", "nan", "inf", "posinf", "neginf", "zero", "negative", "zero_fraction", "nan_fraction", "rms"};

std::string unknown(const std::string& name) {
  if (name == buckets_name) {
    return "-r: a histogram is no number: --hist shows it";
  }
  std::vector<std::string> all(plain.begin(), plain.end());
  for (const std::string_view known : plain) {
    all.push_back("abs_" + std::string(known));
  }
  all.insert(all.end(), further.begin(), further.end());
  return "-r: there is no reduction " + single_quoted(name) + did_you_mean(nearest_names(name, all));
}

// Names in the order of the help: plain, then abs_, then those that only the job knows.
std::vector<std::string> in_order(const std::set<std::string>& saved, bool abs) {
  std::vector<std::string> result;
  std::set<std::string> rest = saved;
  for (const std::string prefix : {"", "abs_"}) {
    for (const std::string_view name : plain) {
      const std::string full = prefix + std::string(name);
      if (rest.erase(full) != 0 && (!abs || !prefix.empty())) {
        result.push_back(full);
      }
    }
  }
  for (const std::string& name : rest) {
    if (!abs || name.starts_with("abs_")) {
      result.push_back(name);
    }
  }
  return result;
}

}  // namespace

std::vector<Wanted> wanted_reductions(const std::vector<std::string>& list, bool abs,
                                      const std::set<std::string>& saved) {
  std::vector<Wanted> result;
  const auto add = [&](const std::string& name, bool saved_only) {
    const std::optional<Reduction> reduction = parse_reduction(name);
    if (!saved_only && !reduction) {
      throw UsageError(unknown(name));
    }
    const auto known = std::find_if(result.begin(), result.end(), [&](const Wanted& one) { return one.name == name; });
    if (known == result.end()) {
      result.push_back({name, reduction, saved_only});
    } else {
      known->saved_only = known->saved_only && saved_only;
    }
  };
  for (const std::string& name : list) {
    if (name == "saved") {
      for (const std::string& one : in_order(saved, abs)) {
        add(one, true);
      }
    } else if (name == "all") {
      for (const std::string prefix : {"", "abs_"}) {
        for (const std::string_view one : plain) {
          if (!abs || !prefix.empty()) {
            add(prefix + std::string(one), false);
          }
        }
      }
    } else {
      add(abs && !name.starts_with("abs_") ? "abs_" + name : name, false);
    }
  }
  if (result.empty() && std::find(list.begin(), list.end(), "saved") == list.end()) {
    throw UsageError("-r: no reduction is named");
  }
  return result;
}

std::optional<Reduction> pooling_of(const Wanted& wanted) noexcept {
  if (!wanted.reduction) {
    return std::nullopt;
  }
  switch (wanted.reduction->kind) {
    case ReductionKind::min:
    case ReductionKind::max:
    case ReductionKind::sum:
    case ReductionKind::prod:
    case ReductionKind::l2:
      return Reduction{wanted.reduction->kind, false, 0};
    case ReductionKind::l1:
    case ReductionKind::count:
    case ReductionKind::finite:
    case ReductionKind::nan:
    case ReductionKind::inf:
    case ReductionKind::posinf:
    case ReductionKind::neginf:
    case ReductionKind::zero:
    case ReductionKind::negative:
      return Reduction{ReductionKind::sum, false, 0};
    default:
      return std::nullopt;
  }
}

}  // namespace smd::tool::reduce
