// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/rule.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace smd::detail::rules {

/// Warns of losses that are exactly 0 after positive ones, in trials without modes: in logs, some frameworks write 0
/// instead of NaN.
class ZeroLosses {
 public:
  /// Takes one loss, in the order of steps.
  void see(StepView& step, const Unit& unit, double loss);

 private:
  struct Seen {
    bool positive = false;
    bool warned = false;
  };
  std::map<std::pair<std::string, std::string>, Seen> seen_;  // by tensor and worker
};

}  // namespace smd::detail::rules
