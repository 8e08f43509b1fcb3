// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/export.hpp>
#include <smd/layout.hpp>
#include <smd/problem.hpp>
#include <smd/trial_options.hpp>

#include <cstdint>
#include <functional>

namespace smd {

/// What a full check of a trial found.
struct CheckReport {
  std::uint64_t index_files = 0;
  std::uint64_t event_files = 0;
  std::uint64_t records = 0;
  std::uint64_t unprotected = 0;  ///< Records without a checksum of their payload.
  std::uint64_t bytes = 0;
  bool damaged = false;  ///< At least one problem is damage.
  LayoutTraits layout;
};

/// Reads everything in a trial: every index file, every record that an index file names, and the names of all files;
/// only elements whose type is not read are left out. Ranges, `strict` and `auto_refresh` have no effect.
/// Passes each problem and note to `report_problem` as it is found.
/// @throws as `Trial::open`, but damaged collections are a problem, not an error.
SMD_EXPORT CheckReport check_trial(const std::string& path, const TrialOptions& options,
                                   const std::function<void(const Problem&)>& report_problem);

}  // namespace smd
