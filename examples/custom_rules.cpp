// SPDX-License-Identifier: Apache-2.0
// Runs the custom rules of SageMaker Debugger's documentation.
//   custom_rules vanishing TRIAL [THRESHOLD]
//   custom_rules gradient TRIAL [MIN_THRESHOLD MAX_THRESHOLD]
//   custom_rules loss TRIAL OTHER_TRIAL [FACTOR]
// Waits for further steps while the job is running. The status is 1 if the condition was met at some step.
#include "custom_rules.hpp"

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

using custom_rules::CustomGradientRule;
using custom_rules::LossAboveOtherRule;
using custom_rules::VanishingGradientRule;

namespace {

int report(smd::Rule& rule) {
  const smd::RuleResult result = smd::invoke_rule(rule);
  for (const smd::Finding& finding : result.findings) {
    std::printf("step %lld: %s\n", static_cast<long long>(finding.step->value), smd::shown_message(finding).c_str());
  }
  std::printf("%s: %s, %zu steps evaluated, %zu skipped\n", result.rule.c_str(),
              std::string(smd::to_string(result.status)).c_str(), result.steps_evaluated, result.steps_skipped);
  return result.findings.empty() ? 0 : 1;
}

int run(const std::vector<std::string>& words) {
  const std::size_t count = words.size();
  if (count >= 2 && words[0] == "vanishing" && count <= 3) {
    const smd::Trial trial = smd::Trial::open(words[1]);
    VanishingGradientRule rule = count == 3 ? VanishingGradientRule(trial, words[2]) : VanishingGradientRule(trial);
    return report(rule);
  }
  if (count >= 2 && words[0] == "gradient" && (count == 2 || count == 4)) {
    const smd::Trial trial = smd::Trial::open(words[1]);
    CustomGradientRule rule = count == 4 ? CustomGradientRule(trial, words[2], words[3]) : CustomGradientRule(trial);
    return report(rule);
  }
  if (count >= 3 && words[0] == "loss" && count <= 4) {
    const smd::Trial trial = smd::Trial::open(words[1]);
    const smd::Trial other = smd::Trial::open(words[2]);
    LossAboveOtherRule rule =
        count == 4 ? LossAboveOtherRule(trial, other, words[3]) : LossAboveOtherRule(trial, other);
    return report(rule);
  }
  std::fputs(
      "usage: custom_rules vanishing TRIAL [THRESHOLD]\n"
      "       custom_rules gradient TRIAL [MIN_THRESHOLD MAX_THRESHOLD]\n"
      "       custom_rules loss TRIAL OTHER_TRIAL [FACTOR]\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) try { return run({argv + 1, argv + argc}); } catch (const std::exception& error) {
  std::fprintf(stderr, "custom_rules: %s\n", error.what());
  return 2;
}
