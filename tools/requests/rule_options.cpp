// SPDX-License-Identifier: Apache-2.0
#include "requests/rule_options.hpp"

#include "cli/text.hpp"

#include <array>

namespace smd::tool {

namespace {

constexpr std::array<OptionSpec, 3> rule_options = {{
    {.short_name = 'r',
     .name = "rule",
     .metavar = "NAME[,NAME]",
     .help = "evaluate these rules, named as VanishingGradient or vanishing_gradient",
     .group = rules_group,
     .kind = ArgumentKind::rule,
     .repeat = Repeat::adds_up,
     .split_commas = true,
     .manual = "Evaluate these rules, named as VanishingGradient or vanishing_gradient."},
    {.short_name = 'p',
     .name = "param",
     .metavar = "K=V",
     .help = "set a parameter of the rule; with several rules RULE.K=V",
     .group = rules_group,
     .kind = ArgumentKind::rule_parameter,
     .repeat = Repeat::adds_up,
     .manual = "Set a parameter of the rule; with several rules, RULE.K=V names one. It takes precedence over "
               "files of configurations. An empty V means the default."},
    {.short_name = 'C',
     .name = "config",
     .metavar = "FILE",
     .help = "evaluate the rules in FILE: JSON with SageMaker's DebugRuleConfigurations",
     .group = rules_group,
     .kind = ArgumentKind::file,
     .repeat = Repeat::adds_up,
     .manual =
         "Evaluate the rules of a JSON document: one rule configuration of SageMaker, a list of them, or an object "
         "with DebugRuleConfigurations, such as a CreateTrainingJob request or what describe-training-job prints. "
         "Names, rules and parameters are used; images, instances and paths are ignored. A list may be text with "
         "commas "
         "or a JSON list. Rules in Python (source_s3_uri) are evaluated if --python of smd-rule has their class; "
         "rules of the profiler and rules that make reports are not "
         "evaluated, and actions (action_json) not performed. An other_trial on S3 is read if its bucket is one that "
         "the command line names too: in a TRIAL, --other or -p; otherwise it is a usage error, and no request is "
         "made."},
}};

ParameterOption parameter_from(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InvalidValue(single_quoted(text) + " is not K=V, such as threshold=1e-6");
  }
  ParameterOption option = {{}, text.substr(0, equals), text.substr(equals + 1)};
  // Names of configurations may have dots, names of parameters have none.
  if (const std::size_t dot = option.name.rfind('.'); dot != std::string::npos) {
    option.rule = option.name.substr(0, dot);
    option.name.erase(0, dot + 1);
    if (option.rule.empty() || option.name.empty()) {
      throw InvalidValue(single_quoted(text) + " is not RULE.K=V, such as Overfit.patience=3");
    }
  }
  return option;
}

}  // namespace

std::span<const OptionSpec> RuleOptions::table() noexcept { return rule_options; }

RuleOptions RuleOptions::from(const CommandLine& line) {
  return {line.values("rule"), line.convert_all("param", parameter_from), line.values("config")};
}

}  // namespace smd::tool
