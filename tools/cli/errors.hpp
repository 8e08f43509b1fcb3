// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace smd::tool {

/// The command line asks for something impossible. Throw it anywhere: `run_command` prints `smd-ls: Usage: TEXT` and
/// `Try 'smd-ls --help'.`, and the status is 2.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& text) : std::runtime_error(text) {}
};

/// An option's value is invalid. The text says what is wrong with the value and does not name the option:
/// `CommandLine::convert` adds the name and throws a UsageError.
class InvalidValue : public std::runtime_error {
 public:
  explicit InvalidValue(const std::string& text) : std::runtime_error(text) {}
};

/// Results could not be written. Status 3.
class OutputError : public std::runtime_error {
 public:
  explicit OutputError(const std::string& text) : std::runtime_error(text) {}
};

}  // namespace smd::tool
