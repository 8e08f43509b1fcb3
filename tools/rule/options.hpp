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
#include "cli/message_options.hpp"
#include "cli/reading_options.hpp"
#include "cli/shard.hpp"
#include "follow/following_options.hpp"
#include "rows/output_options.hpp"
#include "select/selection.hpp"

namespace smd::tool::rule {

/// `--report F=FILE`.
struct ReportSpec {
  std::string format;
  std::string file;
};

/// `-p K=V` or `-p RULE.K=V`.
struct ParameterOption {
  std::string rule;  ///< Empty: of the only one.
  std::string name;
  std::string value;
};

enum class Task : std::uint8_t { evaluate, list, describe, explain, check_config, hook_config };

/// The options of smd-rule, as an option table and as values, with the shared options beside them.
struct RuleCommandOptions {
  std::vector<std::string> operands;
  SelectionOptions selection;  ///< Only -s, -m and -w.
  OutputOptions output;
  MessageOptions messages;
  ReadingOptions reading;
  FollowingOptions following;
  Task task = Task::evaluate;
  std::string described;  ///< Of --describe.
  std::vector<std::string> rules;
  std::vector<ParameterOption> parameters;
  std::vector<std::string> configs;
  std::optional<std::string> other;
  bool keep_going = false;
  bool findings_only = false;  ///< Asked for, or no column of a result's own is printed.
  std::optional<double> now;   ///< Seconds since 1970.
  std::vector<std::string> plugins;
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

/// What -f and --report take.
[[nodiscard]] std::span<const std::string_view> report_formats() noexcept;

/// -s as one plain range of global steps, half open; not given: no bounds.
struct PlainRange {
  std::optional<GlobalStep> start;
  std::optional<GlobalStep> end;
};
/// Nothing if it is no such range, or if -m chooses a mode.
[[nodiscard]] std::optional<PlainRange> plain_range(const SelectionOptions& selection);

/// Seconds since 1970: a number, or RFC 3339 (`2024-05-01T12:00:00Z`). @throws InvalidValue.
[[nodiscard]] double parse_time(std::string_view text);

}  // namespace smd::tool::rule
