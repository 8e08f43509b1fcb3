// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "storage/storage.hpp"
#include "trial/snapshot.hpp"

#include <smd/place.hpp>
#include <smd/problem.hpp>
#include <smd/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace smd::detail::trial {

/// Locates the values of a trial, and explains why reading them fails. Thread-safe.
class Records {
 public:
  /// `storage` and `layout` must outlive this.
  Records(storage::Storage& storage, const layout::Layout& layout) : storage_(storage), layout_(layout) {}

  /// Returns where an entry of a row is. `file`: that of the row.
  [[nodiscard]] Place place(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t position,
                            std::shared_ptr<const std::string> file) const;
  [[nodiscard]] Place place(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t position) const {
    return place(snapshot, row, position, file(snapshot, row));
  }
  /// Returns the file that holds a row's entries, relative to the trial.
  [[nodiscard]] std::shared_ptr<const std::string> file(const Snapshot& snapshot, const layout::StepRow& row) const;
  /// Overwrites `entry` with all that `row` saved of a tensor. Returns false if it saved nothing; `entry` is then
  /// unspecified. `file`: that of the row.
  bool fill(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor,
            const std::shared_ptr<const std::string>& file, TensorEntry& entry) const;
  /// Returns all that `row` saved of a tensor. Nullopt if it saved nothing.
  [[nodiscard]] std::optional<TensorEntry> entry(const Snapshot& snapshot, const layout::StepRow& row,
                                                 std::uint32_t tensor) const;

  /// Returns where to read a record again after a problem. If the problem may be temporary (descriptors ran out), that
  /// is the same place. On a remote store, an object may have been replaced since the index file was read: then it is
  /// the place in that file, read again. Nullopt if reading again is useless.
  [[nodiscard]] std::optional<Place> again(const Problem& problem, const Place& place, std::string_view tensor,
                                           const Snapshot& snapshot) const;
  /// Discards index files that were read again: a new snapshot replaces them.
  void forget_again();

  /// Returns a problem with a record, with the kind that follows from the state of the job: `absent`, `not_yet`,
  /// `damaged`, or unchanged.
  [[nodiscard]] Problem explain(Problem problem, const Place& place, const Snapshot& snapshot) const;
  /// Returns whether the worker that writes an event file has written a later one: missing data will then not come.
  [[nodiscard]] bool writer_went_on(const std::string& file, const Snapshot& snapshot) const;

 private:
  /// Sets all members of a place except its file.
  void set(const Snapshot& snapshot, const layout::Payload& payload, std::uint32_t position, Place& place) const;
  [[nodiscard]] const layout::StepRow* row_naming(std::string_view event_file, const Snapshot& snapshot) const;
  [[nodiscard]] std::shared_ptr<const layout::LoadedSteps> read_again(const layout::StepPart& file,
                                                                      const Snapshot& snapshot) const;

  storage::Storage& storage_;
  const layout::Layout& layout_;

  mutable std::mutex again_mutex_;
  // Index files read again since the last snapshot was made; guarded by `again_mutex_`.
  mutable std::map<layout::StepPart, std::shared_ptr<const layout::LoadedSteps>> again_;
};

}  // namespace smd::detail::trial
