// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "framework/sides.hpp"
#include "text/limits.hpp"

#include <smd/rule.hpp>
#include <smd/snapshot.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace smd::detail::rules {

/// The saved reduction that is not a number: float64 [k,3], with the left edge, the right edge and the count of each
/// bucket.
inline constexpr std::string_view saved_histogram = "histogram";

/// One flag for each tensor id.
using TensorSet = std::vector<bool>;

/// One trial as rules see it: a snapshot, limited to some workers. `freeze` changes it, which invalidates the units
/// made before. Queries are safe from many threads.
class EvaluatedTrial {
 public:
  EvaluatedTrial(const Trial& trial, std::size_t number, std::vector<std::string> workers);

  /// `latest`: a snapshot of the trial.
  void freeze(TrialSnapshot latest);

  [[nodiscard]] const Trial& trial() const noexcept { return *trial_; }
  [[nodiscard]] std::size_t number() const noexcept { return number_; }  ///< 0: the base trial.
  [[nodiscard]] const TrialSnapshot& snapshot() const noexcept { return snapshot_; }
  /// Returns a number that changes when selections may select others: with the tensors' names, with which of them have
  /// values, and with the collections.
  [[nodiscard]] std::uint64_t names() const noexcept { return names_; }

  /// Returns whether a worker is among those evaluated.
  [[nodiscard]] bool has_worker(std::uint32_t worker) const noexcept;
  /// Returns whether more than one worker, evaluated or not, wrote complete steps or collections, or was announced.
  [[nodiscard]] bool several_workers() const;
  /// Returns the tensors of a selection. The patterns of all selections share one budget of steps until the trial
  /// changes. @throws InvalidArgument, MatchLimit.
  [[nodiscard]] TensorSet resolve(const TensorSelection& selection) const;
  /// Returns the rows of a step, by worker, only of workers that are evaluated.
  [[nodiscard]] std::vector<SavedRow> rows(GlobalStep step) const;
  /// Returns units by tensor's name, then worker's.
  [[nodiscard]] std::vector<Unit> units(const std::vector<SavedRow>& rows, const TensorSet& selected) const;
  [[nodiscard]] std::vector<Unit> units(const std::vector<SavedRow>& rows, std::string_view tensor) const;
  /// Returns all units of one tensor and worker at complete steps, in one mode or in all.
  [[nodiscard]] const std::vector<Unit>& series(std::uint32_t tensor, std::uint32_t worker,
                                                std::optional<Mode> mode) const;
  /// Returns the last step up to `step` at which a worker's mode steps began again; nullopt if they never did.
  [[nodiscard]] std::optional<GlobalStep> last_restart(std::uint32_t worker, Mode mode, GlobalStep step) const;
  /// Returns the sides, according to their names, of the tensors with one number for each step, for trials without
  /// modes. The same object as long as the names do not change.
  [[nodiscard]] std::shared_ptr<const Sides> sides() const;

 private:
  /// Adds the rows of complete steps that were not added before to `mode_steps_`. Rows that are written to these steps
  /// later are ignored.
  void add_mode_steps() const;
  [[nodiscard]] std::vector<ScalarName> scalar_names() const;

  const Trial* trial_;
  std::size_t number_;
  std::vector<std::string> workers_;
  TrialSnapshot snapshot_;
  std::uint64_t names_ = 0;

  struct Series {
    std::vector<Unit> units;
    /// All units up to this step are here. The largest number: all of the snapshot are.
    std::optional<GlobalStep> known = {};
  };
  using SeriesKey = std::tuple<std::uint32_t, std::uint32_t, std::optional<Mode>>;
  /// A worker's steps of one mode.
  struct ModeSteps {
    ModeStep last;
    std::vector<GlobalStep> restarts = {};  ///< Steps at which mode steps began again, ascending.
  };
  mutable std::mutex mutex_;
  mutable std::uint64_t match_steps_ = limits::pattern_question_steps;  // guarded
  mutable std::map<SeriesKey, Series> series_;  // guarded; `freeze` alone changes one that is complete for the snapshot
  mutable std::map<std::pair<std::uint32_t, Mode>, ModeSteps> mode_steps_;  // guarded; by worker and mode
  mutable std::optional<GlobalStep> taken_;                   // guarded; `mode_steps_` has all rows up to here
  mutable std::shared_ptr<const Sides> sides_;                // guarded; null: not asked for since the names changed
  mutable std::map<std::uint32_t, std::size_t> run_lengths_;  // guarded; by tensor
};

}  // namespace smd::detail::rules
