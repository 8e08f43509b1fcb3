// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule_result.hpp>

#include <string>
#include <string_view>

namespace smd::detail::rules {

/// Returns `gradient/conv0: abs_mean 3e-09 < threshold 1e-07`, with numbers of six digits, or of all if six do not
/// tell value and threshold apart. `bound`, such as `at most`, says that the value is a bound of the measurement.
[[nodiscard]] std::string finding_text(const Finding& finding, std::string_view bound = {});

}  // namespace smd::detail::rules
