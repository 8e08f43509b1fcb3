// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"

namespace smd::tool {

/// The heading of the options about rules.
inline constexpr std::string_view rules_group = "Rules";

/// `-p K=V` or `-p RULE.K=V`.
struct ParameterOption {
  std::string rule;  ///< Empty: the only rule.
  std::string name;
  std::string value;
};

/// The options that choose rules, as an option table and as their values.
struct RuleOptions {
  std::vector<std::string> rules;           ///< -r
  std::vector<ParameterOption> parameters;  ///< -p
  std::vector<std::string> configs;         ///< -C

  /// -r -p -C.
  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError.
  static RuleOptions from(const CommandLine& line);

  /// Whether no rule is chosen.
  [[nodiscard]] bool empty() const noexcept { return rules.empty() && configs.empty(); }
};

}  // namespace smd::tool
