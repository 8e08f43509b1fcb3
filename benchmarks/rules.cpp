// SPDX-License-Identifier: Apache-2.0
// Evaluates rules on a trial as smd-rule --keep-going does, and prints what was read and how long it took.
// bench_rules TRIAL RULE[,PARAMETER=VALUE]...   (`all`: every built-in rule, with parameters that select every
// tensor; `all=RULE`: only this one, with these parameters)
#include <smd/smd.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace {

using Named = std::pair<std::string, smd::ParameterTexts>;

Named parse(const std::string& text) {
  Named named;
  std::size_t start = text.find(',');
  named.first = text.substr(0, start);
  while (start != std::string::npos) {
    const std::size_t end = text.find(',', start + 1);
    const std::string item = text.substr(start + 1, end == std::string::npos ? end : end - start - 1);
    const std::size_t equals = item.find('=');
    named.second[item.substr(0, equals)] = equals == std::string::npos ? "" : item.substr(equals + 1);
    start = end;
  }
  return named;
}

/// Every rule; those that need a selection get every tensor.
std::vector<Named> all_rules() {
  std::vector<Named> all;
  for (const smd::RuleDescription& rule : smd::rule_descriptions()) {
    smd::ParameterTexts texts;
    for (const smd::ParameterSpec& parameter : rule.parameters) {
      if (parameter.name == "tensor_regex" && parameter.type == smd::ParameterType::pattern_list) {
        texts["tensor_regex"] = ".";
      }
    }
    if (rule.name == "TensorVariance") {
      texts["max_threshold"] = "1e30";
    }
    if (rule.name == "Threshold") {
      texts.insert({{"reduction", "abs_max"}, {"operator", ">"}, {"threshold", "1e30"}});
    }
    if (rule.other_trials == 0) {
      all.emplace_back(rule.name, texts);
    }
  }
  return all;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fputs("usage: bench_rules TRIAL RULE[,PARAMETER=VALUE]... | all\n", stderr);
    return 2;
  }
  std::vector<Named> rules;
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "all") {
      rules = all_rules();
    } else if (argument.starts_with("all=")) {
      for (const Named& named : all_rules()) {
        if (named.first == argument.substr(4)) {
          rules.push_back(named);
        }
      }
    } else {
      rules.push_back(parse(argument));
    }
  }
  const auto start = std::chrono::steady_clock::now();
  const smd::Trial trial = smd::Trial::open(argv[1], {.auto_refresh = false});
  smd::Evaluator evaluator(trial, {.keep_going = true});
  for (const auto& [name, texts] : rules) {
    evaluator.add(smd::make_rule(name, texts));
  }
  evaluator.run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  for (const smd::StepInfo& step : trial.step_infos()) {
    bytes += step.bytes;
    records += step.tensors * step.workers.size();
  }
  for (const smd::RuleResult& result : evaluator.results()) {
    std::printf("%-28s %-14s %6zu steps %7zu findings %9.4f s\n", result.name.c_str(),
                std::string(smd::to_string(result.status)).c_str(), result.steps_evaluated, result.findings.size(),
                result.elapsed);
  }
  std::printf("records read %llu of %llu, bytes read %llu of %llu, seconds %.4f\n",
              static_cast<unsigned long long>(evaluator.counters().records), static_cast<unsigned long long>(records),
              static_cast<unsigned long long>(evaluator.counters().bytes), static_cast<unsigned long long>(bytes),
              seconds);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_rules: %s\n", error.what());
  return 2;
}
