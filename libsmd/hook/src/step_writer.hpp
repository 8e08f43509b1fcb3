// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/hook_config.hpp>

#include "atomic_file.hpp"
#include "file_text.hpp"
#include "storage/storage.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail::hook {

/// Which step of whom a file is of.
struct StepOfWorker {
  std::int64_t step = 0;
  Mode mode = Mode::global;
  std::int64_t mode_step = 0;
  std::string worker_part;  ///< As in file names.
};

/// Writes a record, framed, by calling its argument for one piece after the other.
using WriteRecord = std::function<Status(const std::function<Status(std::string_view piece)>& write)>;

/// The event file and the index file of one step and worker, while they are written: the first record makes the event
/// file; once all is given, both are put in place, the event file first. Nothing stands under their names before.
class StepWriter {
 public:
  StepWriter(Output& output, StepOfWorker step, ExistingStep existing, bool sync);

  /// Whether what is there already, if anything, lets this be saved. A problem of kind `warning`: it was saved before,
  /// and must not be joined, or is of another mode or mode step. An index file that is damaged is a problem too.
  Status check_existing();

  Status add_record(std::string tensor, const WriteRecord& write_record);
  void add_shape(ShapeEntry entry) { content_.shapes.push_back(std::move(entry)); }

  /// All is given. What takes time is done here, before other processes are kept out.
  Status finish();
  /// While others are kept out: checks again, joins what is there, and puts the event file in place. A problem of kind
  /// `warning` with a file: that index file, of another name, has the event file; appending cannot join it.
  Status publish_events();
  /// Last: the index file.
  Status publish_index();

 private:
  /// A reader if the step was saved before, else null. Problems as `check_existing`.
  Outcome<std::unique_ptr<storage::Storage>> look();
  /// What the index file says that is there. Problems as `check_existing`.
  Outcome<IndexContent> existing(storage::Storage& trial);
  /// Problems: the event file that is there is named by an index file of another name, and would be lost. Only of a
  /// file that no index file of this step names is the whole index read.
  Status check_events_unnamed();
  /// Puts what is there before what is new.
  Status join(storage::Storage& trial, IndexContent there);

  Output& output_;
  StepOfWorker step_;
  bool append_;
  bool joined_ = false;         // with what was there when it was begun
  bool joined_events_ = false;  // whose event file is in it
  bool sync_;
  std::string event_name_;
  std::string index_name_;
  std::optional<AtomicFile> events_;
  IndexContent content_;
};

}  // namespace smd::detail::hook
