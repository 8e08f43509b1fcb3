// SPDX-License-Identifier: Apache-2.0
#include "requests/requests.hpp"

#include "cli/exit_status.hpp"
#include "cli/mapped.hpp"
#include "cli/text.hpp"
#include "text/bucket_name.hpp"
#include "text/descriptor.hpp"
#include "text/limits.hpp"
#include "text/system_problem.hpp"

#include <smd/remote.hpp>

#include <fcntl.h>
#include <strings.h>

#include <algorithm>
#include <cerrno>

namespace smd::tool {

namespace {

std::string read_file(const std::string& path) {
  const detail::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::optional<std::string> text = file ? detail::read_to_end(file.get(), limits::json_bytes) : std::nullopt;
  if (!text) {
    throw ReadError(detail::system_problem(errno, path));
  }
  if (text->size() > limits::json_bytes) {
    throw ConfigurationError(ConfigurationErrorKind::bad_config,
                             "longer than the limit (json_bytes): this is no file of rules");
  }
  return *std::move(text);
}

std::vector<RuleRequest> requests_of(const std::string& file, bool with_hook) {
  std::vector<RuleRequest> requests;
  try {
    const std::string text = read_file(file);
    std::optional<HookConfig> job_hook;
    if (with_hook && text.find("\"DebugHookConfig\"") != std::string::npos) {
      job_hook = HookConfig::parse(text, file);
    }
    for (RuleConfiguration& configuration : parse_rule_configurations(text)) {
      RuleRequest& request = requests.emplace_back(
          RuleRequest{.configuration = std::move(configuration), .file = file, .error = {}, .job_hook = job_hook});
      if (request.name().empty()) {  // records need a name
        request.configuration.name = request.configuration.position;
      }
    }
  } catch (const ConfigurationError& error) {
    RuleRequest& request = requests.emplace_back();
    request.configuration.name = file;
    request.file = file;
    request.error = error;
  }
  return requests;
}

/// Files of configurations are also used afterwards, when a job of that name may be a different one: what they ask to
/// stop is not stopped unless -p asks for it too.
void withhold_stop(RuleRequest& request) {
  const auto stop = request.configuration.parameters.find(std::string(stop_parameter));
  if (stop != request.configuration.parameters.end() &&
      (stop->second == "1" || strcasecmp(stop->second.c_str(), "true") == 0)) {
    stop->second = "False";
    request.stop_withheld = true;
  }
}

/// Whether -p RULE.K=V means this request.
bool means(const std::string& rule, const RuleRequest& request) {
  const RuleConfiguration& own = request.configuration;
  const std::optional<RuleDescription> meant = rule_named(rule);
  const std::optional<RuleDescription> evaluated = rule_named(own.rule_to_invoke);
  return rule == own.name || rule == own.rule_to_invoke || (meant && evaluated && meant->name == evaluated->name);
}

bool has_parameter(const RuleDescription& description, std::string_view name) {
  return contains(mapped(description.parameters, &ParameterSpec::name), name);
}

/// Returns the name of the first request whose rule has a parameter of its own of this name; of the first at all if
/// none has.
std::string owner_of(const std::string& parameter, const std::vector<RuleRequest>& requests) {
  const auto owner = std::ranges::find_if(requests, [&](const RuleRequest& request) {
    const std::optional<RuleDescription> rule = rule_named(request.configuration.rule_to_invoke);
    return rule && has_parameter(*rule, parameter);
  });
  return (owner == requests.end() ? requests.front() : *owner).name();
}

void set_parameters(std::vector<RuleRequest>& requests, const std::vector<ParameterOption>& parameters) {
  for (const ParameterOption& parameter : parameters) {
    bool used = false;
    for (RuleRequest& request : requests) {
      if (parameter.rule.empty() ? requests.size() == 1 : means(parameter.rule, request)) {
        request.configuration.parameters[parameter.name] = parameter.value;
        used = true;
      }
    }
    if (used || requests.empty()) {
      continue;
    }
    std::vector<std::string> names;
    for (const RuleRequest& request : requests) {
      add_once(names, request.name());
    }
    const std::string given = parameter.name + "=" + parameter.value;
    refuse_if(parameter.rule.empty(), "--param: " + single_quoted(given) + " does not say of which rule: give -p " +
                                          owner_of(parameter.name, requests) + "." + given);
    const std::vector<std::string> nearest = detail::nearest(parameter.rule, names, 1);
    throw UsageError("--param: " + single_quoted(parameter.rule) + " is none of the rules asked for" +
                     (nearest.empty() ? ", which are " + quoted_list(names) : did_you_mean(nearest)));
  }
}

/// Checks the form of a trial's URL. Whether the trial exists is known only when it is read.
void check_other(const RuleConfiguration& configuration) {
  const auto other = configuration.parameters.find(std::string(other_parameter));
  if (other == configuration.parameters.end() || !is_remote_path(other->second)) {
    return;
  }
  if (const std::string_view refused = text::refuse_location(other->second); !refused.empty()) {
    throw ConfigurationError(
        ConfigurationErrorKind::bad_value,
        std::string(other_parameter) + ": " + single_quoted(other->second) + " " + std::string(refused),
        std::string(other_parameter));
  }
}

void check(RuleRequest& request, const std::optional<std::string>& other) {
  RuleConfiguration& configuration = request.configuration;
  const std::string where = request.file.empty() ? std::string() : request.file + ": ";
  try {
    if (!configuration.error) {
      const RuleDescription description = describe_rule(configuration.rule_to_invoke);
      if (request.file.empty()) {
        configuration.rule_to_invoke = description.name;
      }
      request.other_trials = description.other_trials;
      if (other && has_parameter(description, other_parameter)) {
        configuration.parameters[std::string(other_parameter)] = *other;
      }
      check_other(configuration);
      if (request.other_trials > 1) {
        throw ConfigurationError(ConfigurationErrorKind::bad_trial, configuration.rule_to_invoke + " needs " +
                                                                        std::to_string(request.other_trials) +
                                                                        " other trials; smd-rule has one, --other");
      }
    }
    static_cast<void>(make_rule(configuration));
  } catch (const ConfigurationError& error) {
    const bool placed = configuration.position.empty() ||
                        std::string_view(error.what()).find(configuration.position) != std::string_view::npos;
    request.error.emplace(error.kind, where + (placed ? "" : configuration.position + ": ") + error.what(),
                          error.parameter, error.nearest);
  }
}

constexpr auto rule_options = in_group(
    rules_group,
    {
        valued('r', "rule", "NAME[,NAME]", ArgumentKind::rule,
               "evaluate these rules, named as VanishingGradient or vanishing_gradient")
            .list(),
        valued('p', "param", "K=V", ArgumentKind::rule_parameter,
               "set a parameter of the rule; with several rules RULE.K=V")
            .repeatable()
            .explained("Set a parameter of the rule; with several rules, RULE.K=V names one. It takes precedence over "
                       "files of configurations. An empty V means the default."),
        valued('C', "config", "FILE", ArgumentKind::file,
               "evaluate the rules in FILE: JSON with SageMaker's DebugRuleConfigurations")
            .repeatable()
            .explained("Evaluate the rules of a JSON document: one rule configuration of SageMaker, a list of them, or "
                       "an object with DebugRuleConfigurations, such as a CreateTrainingJob request or what "
                       "describe-training-job prints. Names, rules and parameters are used; images, instances and "
                       "paths are ignored. A list may be text with commas or a JSON list. Rules in Python "
                       "(source_s3_uri) are evaluated if --python of smd-rule has their class; rules of the profiler "
                       "and rules that make reports are not evaluated, and actions (action_json) not performed. An "
                       "other_trial on S3 is read if its bucket is one that the command line names too: in a TRIAL, "
                       "--other or -p; otherwise it is a usage error, and no request is made."),
    });

ParameterOption parameter_from(const std::string& text) {
  const std::size_t equals = text.find('=');
  invalid_if(equals == std::string::npos || equals == 0, single_quoted(text) + " is not K=V, such as threshold=1e-6");
  ParameterOption option = {{}, text.substr(0, equals), text.substr(equals + 1)};
  // Names of configurations may have dots, names of parameters have none.
  if (const std::size_t dot = option.name.rfind('.'); dot != std::string::npos) {
    option.rule = option.name.substr(0, dot);
    option.name.erase(0, dot + 1);
    invalid_if(option.rule.empty() || option.name.empty(),
               single_quoted(text) + " is not RULE.K=V, such as Overfit.patience=3");
  }
  return option;
}

}  // namespace

std::optional<RuleDescription> rule_named(std::string_view name) {
  try {
    return describe_rule(name);
  } catch (const ConfigurationError&) {
    return std::nullopt;
  }
}

std::unique_ptr<Rule> RuleRequest::make_again() const {
  return describe_rule(configuration.rule_to_invoke).watches_clock ? nullptr : make_rule(configuration);
}

std::vector<RuleRequest> rule_requests(const RuleOptions& options, const RequestOptions& more, Diagnostics& messages) {
  std::vector<RuleRequest> requests;
  for (const std::string& rule : options.rules) {
    requests.emplace_back().configuration.rule_to_invoke = rule;
  }
  for (const std::string& file : options.configs) {
    try {
      std::vector<RuleRequest> found = requests_of(file, more.for_hook);
      if (found.empty()) {
        messages.warning(file + ": the job has no rules");
      }
      std::for_each(found.begin(), found.end(), withhold_stop);
      std::move(found.begin(), found.end(), std::back_inserter(requests));
    } catch (const ReadError& error) {
      messages.fail(error);
    }
  }
  for (const AddedRule& added : more.added) {
    const auto is_it = [&](const RuleRequest& one) { return one.configuration.rule_to_invoke == added.name; };
    if (std::ranges::none_of(requests, is_it)) {
      requests.emplace_back().configuration.rule_to_invoke = added.name;
    }
    for (RuleRequest& request : requests) {
      if (added.error && is_it(request)) {
        request.error = added.error;
      }
    }
  }
  set_parameters(requests, options.parameters);
  for (RuleRequest& request : requests) {
    if (!request.error) {
      // What must be saved of a trial does not depend on the one that it is compared with.
      check(request, more.for_hook ? more.other.value_or("other") : more.other);
    } else if (request.error->kind == ConfigurationErrorKind::bad_config) {
      request.error.emplace(request.error->kind, request.file + ": " + request.error->what());
    }
  }
  return requests;
}

std::span<const OptionSpec> RuleOptions::table() noexcept { return rule_options; }

RuleOptions RuleOptions::from(const CommandLine& line) {
  refuse_if(contains(mapped(line.values("rule"), detail::folded), "all"),
            "no rule 'all': smd-rule --list shows them, and smd-report evaluates all that it can");
  return {line.values("rule"), line.convert_all("param", parameter_from), line.values("config")};
}

}  // namespace smd::tool
