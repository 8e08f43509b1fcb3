// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <smd/trial.hpp>
#include <string>
#include <vector>

#include "cli/diagnostics.hpp"
#include "name_mapping.hpp"
#include "options.hpp"
#include "select/select.hpp"

namespace smd::tool::diff {

/// One of the two trials, and what is selected of it.
struct ComparedTrial {
  Trial& trial;
  std::string name;  ///< As given.
  SelectionOptions options;
  Selection selection = {};
  NameMapping names = {};
};

/// A step of A and the step of B that it is compared with. If tensors have steps of their own, one of the two may be
/// missing.
struct PairedStep {
  std::optional<SelectedStep> a;
  std::optional<SelectedStep> b;
  /// As they are compared, in byte order; nullopt: all selected tensors.
  std::optional<std::vector<std::string>> tensors;
};

/// Returns the steps to compare, ascending by A's step (B's, if A's is missing). Reports, with status 1, what cannot be
/// compared, and notes which steps of one trial have no partner.
/// @throws UsageError if --steps-b chooses another number of steps than -s.
[[nodiscard]] std::vector<PairedStep> pair_steps(const ComparedTrial& a, const ComparedTrial& b,
                                                 const DiffCommandOptions& options, Diagnostics& messages);

}  // namespace smd::tool::diff
