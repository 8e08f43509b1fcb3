// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/remote.hpp>
#include <smd/step_range.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace smd {

/// How a trial is opened and read.
// Members of what callers fill in have initialisers, so that `{.name = …}` compiles without warnings.
struct TrialOptions {
  std::string name = {};       ///< For messages and output; default: the last part of the path.
  StepRange range_steps = {};  ///< What to read at first; `Trial::load_range` reads more.
  unsigned jobs = 0;           ///< Threads; 0: one per CPU. On S3: requests at once; 0: 32.
  bool verify = true;          ///< Check payload checksums where records carry them. Length checksums always are.
  bool strict = false;         ///< Throw IndexReaderException at the first damaged index file.
  /// Where a layout has no end marker: take the trial as it stands, and as ended. False: more may come at any time.
  bool as_it_stands = false;
  /// Show the values that later ones superseded (a restarted job goes back), instead of those that count.
  bool superseded = false;
  bool auto_refresh = true;  ///< Look for new steps on every query, as the reference does.
  /// Called now and then while index files are read (by `check_trial`: then the steps' records), with how many of how
  /// many; always in the thread that asked. Must not call back into the trial.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  /// Default: SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW, or 1000.
  std::optional<std::size_t> incomplete_step_wait_window = {};
  RemoteOptions remote = {};  ///< For trials on S3.
};

}  // namespace smd
