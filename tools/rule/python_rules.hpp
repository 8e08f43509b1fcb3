// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "requests/requests.hpp"

namespace smd::tool::rule {

/// Rules in Python (--python), evaluated by one process of the user's python3, which the first file starts. It is asked
/// by JSON lines on a socket of its own, reads the trials itself, and prints to standard error. A rule of it is
/// registered as those of plug-ins are. If the process cannot be started, ends or is silent too long, its rules fail.
class PythonRules {
 public:
  PythonRules(std::string command, std::chrono::nanoseconds timeout, Diagnostics& messages);
  PythonRules(const PythonRules&) = delete;
  PythonRules& operator=(const PythonRules&) = delete;
  /// Ends the process. Rules that live longer fail.
  ~PythonRules();

  /// Loads a file, and returns the rules that it brings, or that it would have brought with what is wrong.
  /// @throws UsageError if there is no such file or class.
  [[nodiscard]] std::vector<AddedRule> load(const PythonSpec& spec);

  /// For the rules.
  class Process;

 private:
  std::shared_ptr<Process> process_;
};

}  // namespace smd::tool::rule
