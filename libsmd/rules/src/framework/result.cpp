// SPDX-License-Identifier: Apache-2.0
#include <smd/rule_result.hpp>

namespace smd {

std::string_view to_string(RuleStatus status) noexcept {
  switch (status) {
    case RuleStatus::no_issues_found:
      return "NoIssuesFound";
    case RuleStatus::issues_found:
      return "IssuesFound";
    case RuleStatus::error:
      return "Error";
    case RuleStatus::in_progress:
      return "InProgress";
    case RuleStatus::not_evaluated:
      break;
  }
  return "NotEvaluated";
}

}  // namespace smd
