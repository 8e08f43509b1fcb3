// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <smd/trial.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/diagnostics.hpp"
#include "common/selection.hpp"
#include "options.hpp"

namespace smd::tool::reduce {

/// One trial, and what of it is selected.
struct Session {
  const Trial& trial;
  std::string name;  ///< As given.
  std::vector<std::string> tensors;
  std::vector<SelectedStep> steps;
  ShardedSteps sharded = {};  ///< If `steps` are a shard's: of which they are.

  [[nodiscard]] bool empty() const noexcept { return tensors.empty() || steps.empty(); }
  /// Calls `visit` for the entries of which there is more than a shape, in the promised order.
  void for_each_entry(const ReduceCommandOptions& options, const std::function<bool(const TensorEntry&)>& visit) const;
  /// The same of some tensors at some steps only.
  void for_each_entry(const ReduceCommandOptions& options, std::span<const std::string> some_tensors,
                      std::span<const SelectedStep> some_steps,
                      const std::function<bool(const TensorEntry&)>& visit) const;
};

/// Resolves names, steps and the shard; what is not there is said.
[[nodiscard]] Session select(Trial& trial, const std::string& name, const ReduceCommandOptions& options,
                             Diagnostics& messages);

/// Reports why a record could not be read.
void report(const Problem& problem, std::string_view tensor, GlobalStep step, const Trial& trial,
            Diagnostics& messages);

}  // namespace smd::tool::reduce
