// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule_result.hpp>

#include <string>
#include <string_view>

namespace smd::detail::rules {

/// `gradient/conv0: abs_mean 3e-09 < threshold 1e-07`: numbers in the shortest form that reads back the same.
/// `bound`: what the value is instead of the measurement, `at most`.
[[nodiscard]] std::string finding_text(const Finding& finding, std::string_view bound = {});

}  // namespace smd::detail::rules
