// SPDX-License-Identifier: Apache-2.0
#include "framework/finding_text.hpp"

#include <fmt/format.h>

namespace smd::detail::rules {

std::string finding_text(const Finding& finding, std::string_view bound) {
  std::string value = fmt::format("{:.6g}", finding.value);
  std::string threshold = fmt::format("{:.6g}", finding.threshold);
  if (value == threshold && finding.value != finding.threshold) {
    value = fmt::format("{}", finding.value);
    threshold = fmt::format("{}", finding.threshold);
  }
  return fmt::format("{}{}{}{}{} {} {} threshold {}", finding.tensor.value_or(""), finding.tensor ? ": " : "",
                     finding.check, bound.empty() ? "" : " ", bound, value, finding.relation, threshold);
}

}  // namespace smd::detail::rules
