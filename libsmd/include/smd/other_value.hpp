// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace smd {

/// A value in a trial's files that is not a tensor.
struct OtherValue {
  std::string kind;  ///< `hparams`, `graph`, `session`, …; `none` for a value that holds nothing.
  std::string name;  ///< Formed as a tensor's name; empty if it has none.
  std::int64_t step = 0;
  std::string worker;
  std::string file;  ///< Relative to the trial.
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  double wall_time = 0;  ///< Seconds since 1970.
};

/// The hyperparameters that a job saved.
struct Hyperparameters {
  std::uint64_t records = 0;  ///< Number of values in the files that contain or describe hyperparameters.
  std::map<std::string, std::string> values;  ///< JSON text by name (with several runs, by RUN/NAME).
};

}  // namespace smd
