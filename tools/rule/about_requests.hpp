// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule_result.hpp>

#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "requests/requests.hpp"

namespace smd::tool::rule {

/// What a triggered result adds if its configuration asked for StopTraining, which a file of rules alone does not
/// perform. Empty if it did not ask, or if -p did.
[[nodiscard]] std::string stop_not_performed(const RuleRequest& request, const RuleResult& result);

/// Reports what is wrong with requests, and what of them is not done here; status 2 if something is wrong.
void report_requests(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options,
                     Diagnostics& messages);

}  // namespace smd::tool::rule
