// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace smd {

/// What stands in a trial's files and is no tensor.
struct OtherValue {
  std::string kind;  ///< `hparams`, `graph`, `session`, …; `none` of a value that holds nothing.
  std::string name;  ///< As a tensor's would be; empty if it has none.
  std::int64_t step = 0;
  std::string worker;
  std::string file;  ///< Relative to the trial.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  double wall_time = 0;  ///< Seconds since 1970.
};

/// The hyperparameters that a job saved.
struct Hyperparameters {
  std::uint64_t records = 0;                  ///< How many values of the files hold any, or speak of them.
  std::map<std::string, std::string> values;  ///< Name (of several runs RUN/NAME) to JSON text.
};

}  // namespace smd
