// SPDX-License-Identifier: Apache-2.0
#include "explain.hpp"

#include "record.hpp"

#include <array>
#include <map>
#include <set>
#include <tuple>

namespace smd::tool::rule {

namespace {

constexpr std::array<Column, 9> columns = {{{.name = "rule"},
                                            {.name = "tensor"},
                                            {.name = "reads"},
                                            {.name = "from"},
                                            {.name = "steps", .align = Align::right},
                                            {.name = "first_step", .align = Align::right},
                                            {.name = "last_step", .align = Align::right},
                                            {.name = "workers"},
                                            {.name = "pairs"}}};

/// The pairs that a tensor is in.
std::vector<std::string> pairs_of(const RuleResult& result, const std::string& tensor) {
  std::vector<TensorPair> pairs;
  for (const TensorPair& pair : result.pairs) {
    if (pair.training == tensor || pair.validation == tensor) {
      pairs.push_back(pair);
    }
  }
  return pair_texts(pairs);
}

/// Rule, trial, tensor, and what is read of it.
using Key = std::tuple<std::size_t, std::size_t, std::string, std::string>;
struct Reading {
  std::set<std::int64_t> steps;
  std::set<std::string, std::less<>> workers;
};

}  // namespace

std::span<const Column> explain_columns() noexcept { return columns; }

void explain(Evaluator& evaluator, std::string_view trial, RowWriter& rows, Diagnostics& messages) {
  std::map<Key, Reading> readings;
  evaluator.plan([&](const PlannedRead& read) {
    Reading& reading = readings[{read.rule, read.trial, std::string(read.tensor), read.what}];
    reading.steps.insert(read.read_step.value);
    if (!reading.workers.contains(read.worker)) {
      reading.workers.emplace(read.worker);
    }
  });
  rows.set_trial(trial);
  const std::vector<RuleResult>& rules = evaluator.results();
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    if (rules[rule].error_kind) {
      continue;
    }
    auto reading = readings.lower_bound({rule, 0, {}, {}});
    if (reading == readings.end() || std::get<0>(reading->first) != rule) {
      rows.row({Cell(rules[rule].name), Cell(), Cell(), Cell(), Cell(0), Cell(), Cell(), Cell(), Cell()});
      messages.warning(std::string(trial) + ": " + rules[rule].name + " would read nothing");
      continue;
    }
    for (; reading != readings.end() && std::get<0>(reading->first) == rule; ++reading) {
      const auto& [number, from, tensor, what] = reading->first;
      const std::vector<std::string> workers(reading->second.workers.begin(), reading->second.workers.end());
      const std::set<std::int64_t>& steps = reading->second.steps;
      const std::vector<std::string> pairs = pairs_of(rules[rule], tensor);
      rows.row({Cell(rules[rule].name), tensor.empty() ? Cell() : Cell(tensor), Cell(what),
                Cell(from == 0 ? "trial" : "other"), Cell(steps.size()), Cell(*steps.begin()), Cell(*steps.rbegin()),
                Cell(ListCell{workers}), Cell(ListCell{pairs})});
    }
  }
}

}  // namespace smd::tool::rule
