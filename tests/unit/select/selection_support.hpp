// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "operands/operands.hpp"
#include "operands/reading_options.hpp"
#include "select/select_steps.hpp"
#include "support/temp_dir.hpp"

#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace smd::tool::test {

using Steps = std::vector<std::int64_t>;

/// What was saved in good-pytorch-digits, by its index files (the job has ended):
///   global 0 5 10 14 19 21 26 31 38
///   train  0 5 10       15 20 25
///   eval          0  5           10
inline const std::string digits = SMD_TEST_FIXTURES "/good-pytorch-digits";
/// good-running: global 0 to 11, each saved; eval 0 1 2 at 3, 7, 11; train 0 to 8 at the others; no end marker.
inline const std::string running = SMD_TEST_FIXTURES "/good-running";

/// What came of a selection.
struct Reported {
  Steps steps;
  std::string messages;
  ExitStatus status = ExitStatus::yes;
};

inline SelectionOptions options_for(std::string_view spec, std::vector<smd::Mode> modes) {
  SelectionOptions options;
  options.modes = std::move(modes);
  options.steps = StepSpec::parse(spec);
  return options;
}

/// Messages are caught by way of the log file; at info level so that the silent ones show too.
inline Reported with_messages(const std::string& path, const SelectionOptions& options,
                              const std::function<void(smd::Trial&, Diagnostics&, Reported&)>& act) {
  const smd::test::TempDir dir;
  setenv("SMDEBUG_LOG_PATH", (dir / "log").c_str(), 1);
  Reported outcome;
  {
    Diagnostics messages("test");
    with_trial(path, ReadingOptions().trial_options(ranges_to_read(options.steps, options.modes).front()), messages,
               [&](smd::Trial& trial) { act(trial, messages, outcome); });
    outcome.status = messages.status();
  }
  unsetenv("SMDEBUG_LOG_PATH");
  outcome.messages = smd::test::read_file(dir / "log");
  return outcome;
}

}  // namespace smd::tool::test
