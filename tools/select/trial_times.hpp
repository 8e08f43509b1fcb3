// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <smd/trial.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"

namespace smd::tool {

/// Returns `ended`, `running`, or `unknown`: of a job whose layout has no end marker, or one that a killed job leaves
/// out.
[[nodiscard]] std::string_view job_status(const Trial& trial);

/// Whole seconds since the newest file of a job was written. A file from the future (clocks differ) counts as new.
[[nodiscard]] std::int64_t age_of(const FileTotals& files);

/// When the values of a step were written, in seconds since 1970; NaN: unknown.
struct StepTime {
  double earliest = 0;
  double latest = 0;
};

/// The times of these steps, which ascend; nullopt of a step of which no record is readable. Of numbers, all are
/// looked at; of records, only the smallest is read. `query`: which values count, at least at these steps.
[[nodiscard]] std::vector<std::optional<StepTime>> step_times(const Trial& trial, std::span<const GlobalStep> steps,
                                                              const EntryQuery& query, Diagnostics& messages);

/// When a trial's first value was written, in seconds since 1970; NaN if that is unknown.
[[nodiscard]] double first_time(const Trial& trial, Diagnostics& messages);

/// How long a job has run, and how fast.
struct Pace {
  std::optional<double> duration;  ///< Seconds from the first to the last record that counts.
  std::optional<double> rate;      ///< Steps in a second, over the last hundred saved.
};
[[nodiscard]] Pace pace_of(const Trial& trial, std::span<const GlobalStep> steps, Diagnostics& messages);

}  // namespace smd::tool
