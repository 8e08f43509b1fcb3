// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <smd/reduction.hpp>
#include <vector>

#include "options.hpp"
#include "statistic.hpp"

namespace smd::tool::reduce {

/// `both`: saved, and the elements are reduced too, since merging shards may have to compute it.
enum class How : std::uint8_t { missing, saved, both, computed };

[[nodiscard]] constexpr bool is_saved(How how) noexcept { return how == How::saved || how == How::both; }

/// The saved reduction of an entry that is wanted; null if there is none.
[[nodiscard]] const SavedReduction* find_saved(const TensorEntry& entry, const Wanted& wanted);

/// Where the statistics of a row come from; shared by all rows that are alike.
struct RowPlan {
  std::vector<How> how;
  std::vector<Reduction> computed;     ///< Computed now, or needed to compute it later,
  std::vector<std::size_t> positions;  ///< and the statistic that each of the first ones is.
  bool lacks = false;                  ///< Some statistic is missing.
};

/// Decides where statistics come from before any record is read: what all entries of a row have. Holds every plan once;
/// references to plans stay valid.
class RowPlans {
 public:
  RowPlans(const ReduceCommandOptions& options, const std::vector<Wanted>& wanted)
      : options_(options), wanted_(wanted), how_(wanted.size()) {}

  /// What entries that one row pools have.
  struct Pool {
    RowFacts facts;
    std::size_t last_trial = 0;
    std::size_t members = 0;
    std::size_t values = 0;
    std::vector<std::size_t> saved = {};  ///< How many have each statistic saved; empty if none has any.
    const RowPlan* plan = nullptr;
  };

  /// The plan of a row that is of one entry.
  [[nodiscard]] const RowPlan& of(const TensorEntry& entry);

  /// Following entries are of another trial.
  void next_trial() noexcept { ++trial_; }
  /// Takes note of an entry that may be pooled.
  void note(const TensorEntry& entry);
  /// Sets the plan of each pool, once all entries were noted.
  void finish();
  [[nodiscard]] const Pool& pool(const PoolKey& key) const { return pools_.at(key); }
  void clear_pools() { pools_.clear(); }

 private:
  /// Where a statistic comes from, given whether it was saved, and whether there are values to compute it from.
  [[nodiscard]] How how_of(const Wanted& wanted, bool saved, bool has_values) const;
  /// The plan for `how_`.
  [[nodiscard]] const RowPlan& plan();

  const ReduceCommandOptions& options_;
  const std::vector<Wanted>& wanted_;
  std::map<std::vector<How>, RowPlan> plans_;
  std::vector<How> how_;
  const RowPlan* plain_[2] = {};  // of entries without saved reductions: without and with a value
  std::size_t trial_ = 0;
  std::map<PoolKey, Pool> pools_;
};

}  // namespace smd::tool::reduce
