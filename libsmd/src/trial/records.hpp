// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "storage/storage.hpp"
#include "trial/record_reader.hpp"
#include "trial/snapshot.hpp"

#include <smd/block_reader.hpp>
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

/// Locates and reads the values of a trial, and explains why reading fails. Thread-safe.
class Records {
 public:
  /// `storage` and `layout` must outlive this. `verify`: check payload checksums.
  Records(storage::Storage& storage, const layout::Layout& layout, bool verify)
      : storage_(storage), layout_(layout), verify_(verify) {}

  /// Returns a reader. Each thread needs its own.
  [[nodiscard]] RecordReader reader() const { return {storage_, verify_, &layout_}; }

  [[nodiscard]] TensorLocation location(const Snapshot& snapshot, const layout::StepRow& row,
                                        std::uint32_t position) const;
  /// Returns the file that holds a row's entries, relative to the trial.
  [[nodiscard]] std::string event_path(const Snapshot& snapshot, const layout::StepRow& row) const;
  /// Overwrites `entry` with all that `row` saved of a tensor. Returns false if it saved nothing; `entry` is then
  /// unspecified. `event_path`: that of the row.
  bool fill(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor, const std::string& event_path,
            TensorEntry& entry) const;
  /// Returns all that `row` saved of a tensor. Nullopt if it saved nothing.
  [[nodiscard]] std::optional<TensorEntry> entry(const Snapshot& snapshot, const layout::StepRow& row,
                                                 std::uint32_t tensor) const;

  /// Reads records in parallel with `jobs` threads; calls `take` with the results in order, on the calling thread. See
  /// `Trial::read`.
  void read(const Snapshot& snapshot, std::span<const TensorLocation> locations, std::span<const std::string> tensors,
            unsigned jobs, const std::function<bool(std::size_t, ReadResult&&)>& take) const;

  /// Returns where to read a record again after a problem. If the problem may be temporary (descriptors ran out), that
  /// is the same place. On a remote store, an object may have been replaced since the index file was read: then it is
  /// the place in that file, read again. Nullopt if reading again is useless.
  [[nodiscard]] std::optional<TensorLocation> again(const Problem& problem, const TensorLocation& location,
                                                    std::string_view tensor, const Snapshot& snapshot) const;
  /// Returns `read(location)`, an Outcome or Status. If that is a problem and `again` returns a place, returns
  /// `read(place)`. `reader` is the one that `read` uses.
  template <class Reader, class Read>
  [[nodiscard]] auto read_or_again(Reader& reader, const TensorLocation& location, std::string_view tensor,
                                   const Snapshot& snapshot, Read&& read) const {
    auto result = read(location);
    if (!result) {
      if (const std::optional<TensorLocation> place = again(result.problem(), location, tensor, snapshot)) {
        reader.close();  // frees a descriptor, in case they ran out
        result = read(*place);
      }
    }
    return result;
  }
  /// Discards index files that were read again: a new snapshot replaces them.
  void forget_again();

  /// Returns a problem with a record, with the kind that follows from the state of the job: `absent`, `not_yet`,
  /// `damaged`, or unchanged.
  [[nodiscard]] Problem explain(Problem problem, const TensorLocation& location, const Snapshot& snapshot) const;
  /// Returns whether the worker that writes an event file has written a later one: missing data will then not come.
  [[nodiscard]] bool writer_went_on(const TensorLocation& location, const Snapshot& snapshot) const;

 private:
  void place(const Snapshot& snapshot, const layout::Payload& payload, std::uint32_t position,
             TensorLocation& location) const;
  [[nodiscard]] const layout::StepRow* row_naming(std::string_view event_file, const Snapshot& snapshot) const;
  [[nodiscard]] std::shared_ptr<const layout::LoadedSteps> read_again(const layout::StepPart& file,
                                                                      const Snapshot& snapshot) const;

  storage::Storage& storage_;
  const layout::Layout& layout_;
  bool verify_;

  mutable std::mutex again_mutex_;
  // Index files read again since the last snapshot was made; guarded by `again_mutex_`.
  mutable std::map<layout::StepPart, std::shared_ptr<const layout::LoadedSteps>> again_;
};

}  // namespace smd::detail::trial
