// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>

#include "atomic_file.hpp"
#include "file_text.hpp"

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail::hook {

/// One step of one worker.
struct StepOfWorker {
  std::int64_t step = 0;
  Mode mode = Mode::global;
  std::int64_t mode_step = 0;
  std::string worker_part;  ///< As in file names.
};

/// Writes the event file and the index file of one step and worker. The first record makes the event file. Neither file
/// has its final name before `publish_events` and `publish_index`, in that order.
class StepWriter {
 public:
  StepWriter(Output& output, StepOfWorker step, ExistingStep existing, bool sync);

  /// Checks that an earlier save of the step, if there is one, does not forbid this one. A problem of kind `warning`:
  /// the step was saved before and must not be appended to, or has another mode or mode step. A damaged index file is a
  /// problem too.
  Status check_existing();

  /// Appends a whole framed record, given as consecutive pieces.
  Status add_record(std::string tensor, std::initializer_list<std::string_view> pieces);
  void add_shape(ShapeEntry entry) { content_.shapes.push_back(std::move(entry)); }

  /// After the last record and shape. Does the slow part before the trial is locked.
  Status finish();
  /// Under the trial's lock: checks again, joins what is there, and publishes the event file.
  Status publish_events();
  /// After `publish_events`: publishes the index file.
  Status publish_index();

 private:
  /// Whether the step was saved before, so that this joins it. Problems as `check_existing`.
  Outcome<bool> must_join();
  /// The content of the index file that is there. Problems as `check_existing`.
  Outcome<IndexContent> existing();
  /// Puts the records and shapes that are there before the new ones.
  Status join(IndexContent there);

  Output& output_;
  StepOfWorker step_;
  bool append_;
  bool joined_ = false;  // what was there at the beginning is already in here
  bool sync_;
  std::string event_name_;
  std::string index_name_;
  std::optional<AtomicFile> events_;
  IndexContent content_;
};

}  // namespace smd::detail::hook
