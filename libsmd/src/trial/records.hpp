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

/// Where the values of a trial lie, how to read them, and what it means if that fails. For concurrent use.
class Records {
 public:
  /// `storage` and `layout` must outlive it. `verify`: check payload checksums.
  Records(storage::Storage& storage, const layout::Layout& layout, bool verify)
      : storage_(storage), layout_(layout), verify_(verify) {}

  /// One for each thread.
  [[nodiscard]] RecordReader reader() const { return {storage_, verify_, &layout_}; }

  [[nodiscard]] TensorLocation location(const Snapshot& snapshot, const layout::StepRow& row,
                                        std::uint32_t position) const;
  /// The file in which a row's entries lie, relative to the trial.
  [[nodiscard]] std::string event_path(const Snapshot& snapshot, const layout::StepRow& row) const;
  /// Writes all that `row` saved of a tensor over `entry`. False if it saved nothing of it; then `entry` is
  /// unspecified. `event_path`: the row's.
  bool fill(const Snapshot& snapshot, const layout::StepRow& row, std::uint32_t tensor, const std::string& event_path,
            TensorEntry& entry) const;
  /// The same; nullopt if the row saved nothing of the tensor.
  [[nodiscard]] std::optional<TensorEntry> entry(const Snapshot& snapshot, const layout::StepRow& row,
                                                 std::uint32_t tensor) const;

  /// Reads records in parallel with `jobs` threads; `take` gets the results in order, in the calling thread. See
  /// `Trial::read`.
  void read(const Snapshot& snapshot, std::span<const TensorLocation> locations, std::span<const std::string> tensors,
            unsigned jobs, const std::function<bool(std::size_t, ReadResult&&)>& take) const;

  /// Where to read a record once more, after a problem. One that may pass (descriptors ran out): there again. On a
  /// remote store, where an object may have been replaced since the index file was read: where that file, read again,
  /// has the record now. Nullopt: it would come to the same.
  [[nodiscard]] std::optional<TensorLocation> again(const Problem& problem, const TensorLocation& location,
                                                    std::string_view tensor, const Snapshot& snapshot) const;
  /// What `read(location)` gives, an Outcome or Status; if that is a problem, and `again` knows where, what it gives
  /// there. `reader` is the one that `read` uses.
  template <class Reader, class Read>
  [[nodiscard]] auto read_or_again(Reader& reader, const TensorLocation& location, std::string_view tensor,
                                   const Snapshot& snapshot, Read&& read) const {
    auto result = read(location);
    if (!result) {
      if (const std::optional<TensorLocation> place = again(result.problem(), location, tensor, snapshot)) {
        reader.close();  // perhaps for want of descriptors: once more with one fewer
        result = read(*place);
      }
    }
    return result;
  }
  /// Forgets what was read again: a new snapshot knows better.
  void forget_again();

  /// What a problem with a record means, by what is known of the job: `absent`, `not_yet`, `damaged`, or as it was.
  [[nodiscard]] Problem explain(Problem problem, const TensorLocation& location, const Snapshot& snapshot) const;
  /// Whether a worker that writes an event file has written a later one: then what is not there will not come.
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
