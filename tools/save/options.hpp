// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <smd/hook_config.hpp>
#include <span>
#include <string>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"
#include "text/pattern.hpp"

namespace smd::tool::save {

/// One operand `NAME=VALUE`.
struct Assignment {
  std::string name;
  enum class Kind : std::uint8_t { number, file, stdin_npy } kind = Kind::number;
  double number = 0;
  std::string file;  ///< After the `@`.

  /// The name ends at the first `=@`, else at the last `=`. @throws UsageError.
  static Assignment parse(const std::string& operand);
};

/// The options of smd-save, as an option table and as values.
struct SaveOptions {
  std::string trial;
  std::vector<Assignment> assignments;
  std::optional<std::int64_t> step;
  Mode mode = Mode::global;
  std::optional<std::int64_t> mode_step;
  std::string worker;  ///< Empty: the one of the configuration.
  std::optional<std::size_t> workers;
  std::vector<std::string> collections;
  std::optional<ReductionConfig> reduction;  ///< --reduce, --no-raw, --shape; nullopt: as configured.
  std::optional<std::string> config;
  bool checksum = false;
  bool append = false;
  bool init = false;
  bool end = false;
  bool jsonl = false;
  std::shared_ptr<detail::Pattern> lines;  ///< The pattern of --lines; null without it.
  bool tee = false;
  std::optional<std::chrono::nanoseconds> lock_timeout;
  bool no_lock = false;
  RemoteOptions remote = {};  ///< For a trial on S3.

  static std::span<const OptionSpec> table() noexcept;
  /// @throws UsageError for invalid options and for options that contradict each other.
  static SaveOptions from(const CommandLine& line);

  /// Whether tensors come line by line from standard input.
  [[nodiscard]] bool reads_lines() const noexcept { return jsonl || lines != nullptr; }

  /// The configuration of this command's hooks. Reports what of the configuration file is not used. `messages` must
  /// outlive the hooks. @throws as `HookConfig::load` does.
  [[nodiscard]] HookConfig hook_config(Diagnostics& messages) const;
};

/// smd-save: writes tensors into a trial.
[[nodiscard]] const CommandDefinition& definition();
ExitStatus run(const SaveOptions& options, Diagnostics& messages);

}  // namespace smd::tool::save
