// SPDX-License-Identifier: Apache-2.0
#include "about_requests.hpp"

#include <algorithm>
#include <memory>
#include <optional>

namespace smd::tool::rule {

std::string stop_not_performed(const RuleRequest& request, const RuleResult& result) {
  const auto value_of = [&](std::string_view name) -> std::optional<std::string> {
    const auto at = std::find_if(result.params.begin(), result.params.end(),
                                 [&](const auto& parameter) { return parameter.first == name; });
    return at == result.params.end() ? std::nullopt : at->second;
  };
  if (!request.stop_withheld || result.findings.empty() || value_of(stop_parameter) != "False") {
    return {};
  }
  const std::optional<std::string> prefix = value_of(prefix_parameter);
  return "StopTraining was asked for" + (prefix ? ", of jobs named " + *prefix + "..., and" : std::string(" and")) +
         " was not performed: a file of rules alone stops no job";
}

void report_requests(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options,
                     Diagnostics& messages) {
  bool other_used = false;
  for (const RuleRequest& request : requests) {
    const RuleConfiguration& configuration = request.configuration;
    other_used = other_used || configuration.parameters.contains(std::string(other_parameter));
    if (request.error && evaluated_elsewhere(request.error->kind)) {
      messages.warning(request.error->what());
      continue;
    }
    if (request.error && request.error->kind == ConfigurationErrorKind::exception) {
      messages.warning(request.error->what());
      messages.raise(ExitStatus::damaged);
      continue;
    }
    if (request.error) {
      const std::string rule = request.file.empty() && request.error->kind != ConfigurationErrorKind::unknown_rule
                                   ? request.name() + ": "
                                   : "";
      messages.fail("Usage", rule + request.error->what(), ExitStatus::usage);
      continue;
    }
    if (!configuration.action_json.empty()) {
      messages.note(request.name() + ": its action_json is not performed here" +
                    (options.on_trigger ? "" : "; --on-trigger CMD runs a command"));
    }
    const std::unique_ptr<Rule> rule = request.make();
    const bool stops = rule->parameters().has(stop_parameter) && rule->parameters().boolean(stop_parameter);
    if (!options.on_trigger && (stops ? !rule->parameters().has(prefix_parameter) : request.stop_withheld)) {
      messages.warning(
          request.name() +
          ": stop_training_on_fire stops nothing: give --on-trigger CMD, a command that stops the job, or, "
          "for a SageMaker job, -p stop_training_on_fire=True and -p training_job_name_prefix=NAME");
    }
  }
  if (options.other && !other_used) {
    messages.warning("--other: no rule asked for compares two trials");
  }
}

}  // namespace smd::tool::rule
