// SPDX-License-Identifier: Apache-2.0
#include "reduction_list.hpp"

#include "cli/errors.hpp"
#include "cli/option_hints.hpp"
#include "cli/text.hpp"
#include "rows/buckets.hpp"

#include <algorithm>
#include <utility>

namespace smd::tool::reduce {

namespace {

// `min` … `l2`, or with the prefix `abs_`.
std::vector<std::string> with_abs(std::string_view prefix) {
  std::vector<std::string> names;
  for (const ReductionFacts& facts : reduction_table) {
    if (facts.abs && facts.kind != ReductionKind::percentile) {
      names.push_back(std::string(prefix) + std::string(facts.name));
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

// Names in the order of the help: plain, then abs_, then those that only the job knows.
std::vector<std::string> in_order(const std::set<std::string>& saved, bool abs) {
  std::vector<std::string> result;
  std::set<std::string> rest = saved;
  for (const std::string_view prefix : {"", "abs_"}) {
    for (std::string& name : with_abs(prefix)) {
      if (rest.erase(name) != 0 && (!abs || !prefix.empty())) {
        result.push_back(std::move(name));
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
      for (const std::string_view prefix : {"", "abs_"}) {
        for (const std::string& one : with_abs(prefix)) {
          if (!abs || !prefix.empty()) {
            add(one, false);
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
  const std::optional<ReductionKind> kind =
      wanted.reduction ? facts_of(wanted.reduction->kind).pooling : std::optional<ReductionKind>();
  return kind ? std::optional(Reduction{*kind, false, 0}) : std::nullopt;
}

std::vector<std::string> reduction_words() {
  std::vector<std::string> words = with_abs("");
  for (std::string& name : with_abs("abs_")) {
    words.push_back(std::move(name));
  }
  for (const ReductionFacts& facts : reduction_table) {
    if (!facts.abs) {
      words.emplace_back(facts.name);
    }
  }
  return words;
}

}  // namespace smd::tool::reduce
