// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hook/atomic_file.hpp"
#include "hook/file_text.hpp"
#include "storage/storage.hpp"

#include <cstdint>
#include <initializer_list>
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

/// The event file and the index file of one step and worker, while they are written: the first record makes the event
/// file, `finish` puts both in place, the event file first.
class StepFile {
 public:
  StepFile(Output& output, StepOfWorker step, bool sync);

  /// Starts with what is there already: its records are copied, its entries kept. An index file that is damaged is a
  /// problem; so is one of another mode or mode step, of kind `warning`.
  Status take_over(storage::Storage& trial);
  /// A whole record, framed, in pieces that follow each other.
  Status add_record(std::string tensor, std::initializer_list<std::string_view> pieces);
  void add_shape(ShapeEntry entry) { content_.shapes.push_back(std::move(entry)); }

  /// Puts the event file in place; then the index file, with `finish_index`.
  Status finish_events();
  Status finish_index();

 private:
  Output& output_;
  StepOfWorker step_;
  bool sync_;
  std::string event_name_;
  std::string index_name_;
  std::optional<AtomicFile> events_;
  IndexContent content_;
};

}  // namespace smd::detail::hook
