// SPDX-License-Identifier: Apache-2.0
#include "rules.hpp"

namespace smd::docgen {

std::vector<RuleWords> rule_words() { return {}; }

}  // namespace smd::docgen
