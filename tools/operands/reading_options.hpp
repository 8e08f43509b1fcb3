// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.hpp"
#include "cli/diagnostics.hpp"

#include <smd/remote.hpp>
#include <smd/trial.hpp>

#include <span>
#include <string>
#include <vector>

namespace smd::tool {

/// Returns `own` and the options that say how trials on S3 are reached.
[[nodiscard]] std::vector<OptionSpec> with_remote_options(std::span<const OptionSpec> own);
/// A signal that an Interruption receives ends requests.
[[nodiscard]] RemoteOptions remote_options(const CommandLine& line);

/// Sends warnings and details about a remote store to `messages`, which must outlive all that is opened with the
/// options.
void say_remote(RemoteOptions& options, Diagnostics& messages);

/// The options that every command which reads trials has.
struct ReadingOptions {
  unsigned jobs = 0;  ///< 0: one per CPU.
  bool verify = true;
  Superseded superseded = Superseded::left_out;  ///< --superseded, --with-superseded
  std::string layout;                            ///< --layout; empty: as it is found.
  std::string step_name;                         ///< --step-name; empty: as the layout finds it.
  RemoteOptions remote = {};                     ///< For trials on S3.

  static std::span<const OptionSpec> table() noexcept;
  /// --superseded and --with-superseded, for commands that show what was saved.
  static std::span<const OptionSpec> superseded_table() noexcept;
  /// @throws UsageError.
  static ReadingOptions from(const CommandLine& line);

  /// Options to open a trial with: one snapshot (no refresh on queries), the given range, and `threads` in place of
  /// `jobs`. The trial is read as it stands, unless `open_awaited`, which waits, resets that.
  [[nodiscard]] TrialOptions trial_options(const StepRange& range = {}, std::optional<unsigned> threads = {}) const;
};

}  // namespace smd::tool
