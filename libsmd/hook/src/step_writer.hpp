// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>

#include "atomic_file.hpp"
#include "file_text.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail::hook {

/// The step and the worker that a file belongs to.
struct StepOfWorker {
  std::int64_t step = 0;
  Mode mode = Mode::global;
  std::int64_t mode_step = 0;
  std::string worker_part;  ///< As in file names.
};

/// Passes a framed record to `write`, piece by piece.
using WriteRecord = std::function<void(const std::function<void(std::string_view piece)>& write)>;

/// Writes the event file and the index file of one step and worker. The first record creates the event file. Readers
/// see neither file before it is published; the event file is published first. All calls throw ReadError if files
/// cannot be read or written.
class StepWriter {
 public:
  StepWriter(Output& output, StepOfWorker step, ExistingStep existing, bool sync);

  /// Checks that the files that exist allow this step to be saved. @throws StepAlreadySaved if the step was saved
  /// before, and must not be appended to, or has another mode or mode step; ReadError also for a damaged index file.
  void check_existing();

  void add_record(std::string tensor, const WriteRecord& write_record);
  void add_shape(ShapeEntry entry) { content_.shapes.push_back(std::move(entry)); }

  /// Call this after the last record. Does the slow part of publishing before the lock is taken.
  void finish();
  /// Under the lock: checks again, joins the existing records, and publishes the event file. @throws StepAlreadySaved
  /// as `check_existing`, or without `can_append`: an index file of another name names the event file.
  void publish_events();
  /// Publishes the index file. Call this last.
  void publish_index();

 private:
  /// @throws StepAlreadySaved, whose text begins with the step.
  [[noreturn]] void refuse(const std::string& why, bool can_append) const;
  /// ` of worker 'NAME'`.
  [[nodiscard]] std::string of_worker() const;
  /// Returns whether the step was saved before. @throws as `check_existing`.
  bool is_there();
  /// Returns the content of the existing index file. @throws as `check_existing`.
  IndexContent existing();
  /// Checks that no index file of another name names the existing event file, which would be lost. Reads the whole
  /// index only if an event file exists that this step's index file does not name.
  void check_events_unnamed();
  /// Puts the existing records before the new ones.
  void join(IndexContent there);

  Output& output_;
  StepOfWorker step_;
  bool append_;
  bool joined_ = false;         // with what existed when the step was begun
  bool joined_events_ = false;  // the existing event file is part of `events_`
  bool sync_;
  std::string event_name_;
  std::string index_name_;
  std::optional<AtomicFile> events_;
  IndexContent content_;
};

}  // namespace smd::detail::hook
