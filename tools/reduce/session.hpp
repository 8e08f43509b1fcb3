// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/diagnostics.hpp"
#include "options.hpp"
#include "select/saved_forms.hpp"
#include "select/select.hpp"

#include <smd/trial.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smd::tool::reduce {

/// The steps that shards divide. Shards belong together if these are equal: the job may have saved more in between.
struct ShardedSteps {
  std::uint64_t count = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;

  bool operator==(const ShardedSteps&) const = default;
};

/// One trial, and what is selected of it.
struct Session {
  Trial& trial;
  std::string name;           ///< As given.
  Selection selection;        ///< With its lists.
  ShardedSteps sharded = {};  ///< For a shard: the steps that were divided.
  /// With --smooth: the steps selected; `selection` then has all of the mode.
  std::optional<TensorSteps> shown = {};
  std::optional<double> started = {};  ///< When the trial's first value was written, if that is asked for.

  /// Whether an entry is selected, and not only read to be smoothed.
  [[nodiscard]] bool shows(std::string_view tensor, GlobalStep step) const;

  [[nodiscard]] bool empty() const noexcept { return selection.empty(); }
  [[nodiscard]] const std::vector<std::string>& tensors() const noexcept { return selection.tensors; }
  [[nodiscard]] const std::vector<SelectedStep>& steps() const noexcept { return selection.steps.steps; }
  /// Calls `visit` for the entries that hold more than a shape, in the documented order.
  void for_each_entry(const ReduceCommandOptions& options, const std::function<bool(const TensorEntry&)>& visit) const;
  /// The same for some tensors at some steps only.
  void for_each_entry(const ReduceCommandOptions& options, std::span<const std::string> some_tensors,
                      std::span<const SelectedStep> some_steps,
                      const std::function<bool(const TensorEntry&)>& visit) const;
  /// How many entries `for_each_entry` visits.
  [[nodiscard]] std::uint64_t count_entries(const ReduceCommandOptions& options) const;
  /// The forms in which the selection was saved, for messages. Visits all entries if none has a value.
  [[nodiscard]] SavedForms forms(const ReduceCommandOptions& options) const;
};

/// Resolves names, steps and the shard; reports what is missing.
[[nodiscard]] Session open_session(Trial& trial, const std::string& name, const ReduceCommandOptions& options,
                                   Diagnostics& messages);

/// `first`, `last` and negative numbers count each tensor's own steps at which there is what can be reduced.
[[nodiscard]] SelectionNeeds selection_needs(const ReduceCommandOptions& options);

/// What to read of a trial at first.
[[nodiscard]] StepRange range_to_open(const ReduceCommandOptions& options);

/// Reports that nothing selected can be reduced as asked, and in which forms it was saved, unless something was
/// reported before; status 1. `trial` may be null.
void say_nothing_found(std::string_view name, const SavedForms& forms, const ReduceCommandOptions& options,
                       Trial* trial, Diagnostics& messages);

/// Reports that what was saved as a reduction is not one number.
void report_no_number(std::string_view tensor, GlobalStep step, std::string_view reduction, Diagnostics& messages);

/// Reports why --slice does not fit a tensor.
void report_slice(std::string_view tensor, std::string_view why, Diagnostics& messages);

/// Reports why a record could not be read.
void report(const Problem& problem, std::string_view tensor, GlobalStep step, const Trial& trial,
            Diagnostics& messages);

}  // namespace smd::tool::reduce
