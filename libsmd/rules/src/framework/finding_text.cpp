// SPDX-License-Identifier: Apache-2.0
#include "framework/finding_text.hpp"

#include <fmt/format.h>

namespace smd::detail::rules {

std::string finding_text(const Finding& finding, std::string_view bound) {
  return fmt::format("{}{}{}{}{} {} {} threshold {}", finding.tensor.value_or(""), finding.tensor ? ": " : "",
                     finding.check, bound.empty() ? "" : " ", bound, finding.value, finding.relation,
                     finding.threshold);
}

}  // namespace smd::detail::rules
