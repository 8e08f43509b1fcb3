// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "storage/storage.hpp"
#include "trial/snapshot.hpp"

#include <smd/trial.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace smd {

/// A trial's storage, layout and latest snapshot. Shared by the `Trial` and its `Tensor`s.
///
/// `mutex` guards the pointer to the snapshot and what queries noticed; `loading` lets one thread at a time make a new
/// snapshot, while others go on with the last.
struct Trial::Impl {
  TrialOptions options;
  std::string name;
  std::string path;
  unsigned jobs = 1;
  std::size_t window = 1000;
  std::unique_ptr<detail::storage::Storage> storage;
  std::unique_ptr<detail::layout::Layout> layout;
  std::vector<Problem> opening_notes;

  std::mutex loading;
  std::vector<StepRange> ranges;  // guarded by `loading`

  mutable std::mutex mutex;
  std::shared_ptr<const detail::trial::Snapshot> latest;
  mutable std::vector<Problem> noticed;  // by queries: patterns of the trial that do not work
  /// Every name table that was ever current, so that names handed out stay valid.
  mutable std::set<std::shared_ptr<const detail::layout::NameTable>> name_tables;
  std::set<std::shared_ptr<const detail::layout::Listing>> listings;

  /// The snapshot to answer from; looks for what is new first if the options say so.
  [[nodiscard]] std::shared_ptr<const detail::trial::Snapshot> snapshot() const;
  /// The latest snapshot as it is.
  [[nodiscard]] std::shared_ptr<const detail::trial::Snapshot> current() const;
  void notice(Problem problem) const;

  /// Lists, reads what is new in range, and makes that the latest snapshot.
  void reload(bool collections_too);

  /// Last problem of a record, judged by what is known of the job: absent, not yet, or damaged.
  [[nodiscard]] Problem judge(Problem problem, const TensorLocation& location,
                              const detail::trial::Snapshot& snapshot) const;

  [[nodiscard]] TensorLocation location(const detail::trial::Snapshot& snapshot, const detail::layout::StepRow& row,
                                        std::uint32_t position) const;
  [[nodiscard]] TensorEntry entry(const detail::trial::Snapshot& snapshot, const detail::layout::StepRow& row,
                                  std::uint32_t tensor) const;
};

namespace detail::trial {

/// Whether a tensor id is a member of each thing asked for.
using TensorSet = std::vector<bool>;

[[nodiscard]] TensorSet select_tensors(const Trial::Impl& impl, const Snapshot& snapshot, const TensorQuery& query);

/// The rows at which `key` may be answered: those of its first global step (and, for a mode step, that claim it).
[[nodiscard]] std::vector<const layout::StepRow*> rows_at(const Snapshot& snapshot, StepKey key);

}  // namespace detail::trial
}  // namespace smd
