// SPDX-License-Identifier: Apache-2.0
#include "statistic.hpp"

#include "cli/exit_status.hpp"
#include "cli/mapped.hpp"
#include "cli/option_hints.hpp"
#include "cli/text.hpp"
#include "rows/elements.hpp"
#include "select/saved_forms.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace smd::tool::reduce {

Statistic Statistic::of(const ReducedValue& computed) {
  Statistic statistic(reduced_cell(computed));
  if (statistic.missing() && computed.kind == ReducedValue::Kind::integer) {
    statistic.digits_ = to_string(computed);
  }
  return statistic;
}

Statistic Statistic::of(const ReducedValue& computed, const Reduction& reduction, Dtype dtype, bool one_element) {
  const ReductionKind kind = reduction.kind;
  const bool element = kind == ReductionKind::min || kind == ReductionKind::max || kind == ReductionKind::median ||
                       (one_element && (kind == ReductionKind::mean || kind == ReductionKind::sum));
  if (element && !reduction.abs && computed.kind == ReducedValue::Kind::real) {
    const bool whole = is_real(dtype) && !is_floating(dtype) && std::trunc(computed.real) == computed.real &&
                       std::abs(computed.real) < 0x1p53;
    Statistic own(whole ? Cell(static_cast<std::int64_t>(computed.real)) : element_cell(computed.real, dtype));
    if (own.number() == computed.real) {
      return own;
    }
  }
  return of(computed);
}

void Statistic::add_to(Reducer& reducer) const {
  const auto add = [&reducer](Dtype dtype, const auto& element) {
    reducer.add(dtype, std::as_bytes(std::span(&element, 1)));
  };
  if (const auto* const complex = std::get_if<std::complex<double>>(&number_.value())) {
    add(Dtype::complex128, *complex);
  } else if (const auto* const whole = std::get_if<std::int64_t>(&number_.value())) {
    add(Dtype::int64, *whole);
  } else if (const auto* const natural = std::get_if<std::uint64_t>(&number_.value())) {
    add(Dtype::uint64, *natural);
  } else {
    add(Dtype::float64, number());
  }
}

double Statistic::number() const { return as_double(cell()); }

RowFacts RowFacts::of(const TensorEntry& entry, By by) {
  return {.tensor = by.tensor ? entry.tensor : std::string_view(),
          .worker = by.worker ? entry.worker : std::string_view(),
          .step = by.step ? entry.step : GlobalStep(),
          .mode = entry.mode,
          .mode_step = entry.mode_step,
          .superseded = entry.superseded,
          .written = place_of(entry)};
}

namespace {

// `min` … `l2`, unless all are to be of |x|, and the same with the prefix `abs_`: the order of the help.
std::vector<std::string> names_with_abs(bool abs) {
  std::vector<std::string> names;
  for (const std::string_view prefix : {"", "abs_"}) {
    for (const ReductionFacts& facts : all_reductions()) {
      if (facts.abs && facts.kind != ReductionKind::percentile && (!abs || !prefix.empty())) {
        names.push_back(std::string(prefix) + std::string(facts.name));
      }
    }
  }
  return names;
}

std::string unknown(const std::string& name) {
  if (name == buckets_name) {
    return "-r: a histogram is no number: --hist shows it";
  }
  const std::vector<std::string> words = reduction_words();
  return "-r: there is no reduction " + single_quoted(name) +
         word_hint(name, std::vector<std::string_view>(words.begin(), words.end()));
}

// Names in the order of the help, then those that only the job knows.
std::vector<std::string> in_order(std::set<std::string> saved, bool abs) {
  std::erase_if(saved, [abs](const std::string& name) { return abs && !name.starts_with("abs_"); });
  std::vector<std::string> result;
  for (std::string& name : names_with_abs(abs)) {
    if (saved.erase(name) != 0) {
      result.push_back(std::move(name));
    }
  }
  result.insert(result.end(), saved.begin(), saved.end());
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
    const auto known = std::ranges::find_if(result, [&](const Wanted& one) { return one.name == name; });
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
      for (const std::string& one : names_with_abs(abs)) {
        add(one, false);
      }
    } else {
      add(abs && !name.starts_with("abs_") ? "abs_" + name : name, false);
    }
  }
  refuse_if(result.empty() && !contains(list, "saved"), "-r: no reduction is named");
  return result;
}

std::optional<Reduction> pooling_of(const Wanted& wanted) noexcept {
  const std::optional<ReductionKind> kind =
      wanted.reduction ? facts_of(wanted.reduction->kind).pooling : std::optional<ReductionKind>();
  return kind ? std::optional(Reduction{*kind, false, 0}) : std::nullopt;
}

std::vector<std::string> reduction_words() {
  std::vector<std::string> words = names_with_abs(false);
  for (const ReductionFacts& facts : all_reductions()) {
    if (!facts.abs) {
      words.emplace_back(facts.name);
    }
  }
  return words;
}

}  // namespace smd::tool::reduce
