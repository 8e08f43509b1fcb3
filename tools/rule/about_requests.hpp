// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule_result.hpp>

#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "requests/requests.hpp"

namespace smd::tool::rule {

/// What a result of this request that triggered has to say of the stop withheld from it, in the words in which the rule
/// itself says that it stopped nothing; empty if there is none, or -p asked for one.
[[nodiscard]] std::string stop_not_performed(const RuleRequest& request, const RuleResult& result);

/// Says what is wrong with requests, and what of them is not done here; status 2 if something is wrong.
void report_requests(const std::vector<RuleRequest>& requests, const RuleCommandOptions& options,
                     Diagnostics& messages);

}  // namespace smd::tool::rule
