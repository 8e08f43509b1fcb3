// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.hpp"
#include "follow/following.hpp"
#include "operands/shard.hpp"
#include "requests/requests.hpp"
#include "rows/picture_options.hpp"

namespace smd::tool::rule {

/// `--report F=FILE`.
struct ReportSpec {
  std::string format;
  std::string file;
};

/// `--python FILE[:CLASS]`.
struct PythonSpec {
  std::string file;
  std::string kind;  ///< Empty: every rule of the file.
};

enum class Task : std::uint8_t { evaluate, list, describe, explain, check_config, hook_config };

/// The options of smd-rule, as an option table and as values, with the shared options beside them.
/// Of the selection there are only -s, -m and -w, and no picture.
struct RuleCommandOptions : ShowOptions {
  FollowingOptions following;
  Task task = Task::evaluate;
  std::string described;  ///< Of --describe.
  RuleOptions asked;
  std::optional<std::string> other;
  bool keep_going = false;
  bool findings_only = false;  ///< Asked for, or only columns of findings are printed.
  std::optional<double> now;   ///< Seconds since 1970.
  std::vector<std::string> plugins;
  std::vector<PythonSpec> pythons;
  std::string python_command = "python3";
  std::vector<ReportSpec> reports;
  std::optional<std::string> on_trigger;
  std::chrono::nanoseconds trigger_timeout = std::chrono::minutes(1);
  bool allow_empty = false;
  bool exit_zero = false;
  std::optional<Shard> shard;
  bool merge = false;

  static std::span<const OptionSpec> table() noexcept;
  static std::span<const OptionSpec> step_table() noexcept;
  /// @throws UsageError, also for options that contradict each other.
  static RuleCommandOptions from(const CommandLine& line);
};

/// The formats that -f and --report take.
[[nodiscard]] std::span<const std::string_view> report_formats();

/// smd-rule: is training healthy?
[[nodiscard]] const CommandDefinition& definition();
ExitStatus run(const RuleCommandOptions& options, Diagnostics& messages);

}  // namespace smd::tool::rule
