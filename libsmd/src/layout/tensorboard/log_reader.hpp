// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "layout/tensorboard/event_files.hpp"
#include "layout/tensorboard/event_taker.hpp"
#include "layout/tensorboard/log_cursor.hpp"
#include "storage/storage.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace smd::detail::layout {

/// Reads what is new in the files of a log directory.
class LogReader {
 public:
  /// Continues from `cursor`. `seen`: how far earlier looks read the files that are read again; null: not at all.
  LogReader(storage::Storage& storage, const LookRequest& request, LogCursor& cursor, const LogCursor* seen)
      : storage_(storage), request_(request), cursor_(cursor), seen_(seen) {}

  /// Finds new and changed files. Returns false if one must be read from its start: it was removed, replaced, or cut
  /// below what was read, is compressed, or has an uncertain place.
  [[nodiscard]] bool survey(const EventFiles& files);
  [[nodiscard]] bool nothing_new() const noexcept { return changed_.empty(); }
  /// Reads what is new, run by run. Returns false if all events must be taken again, in order: one came late, or a file
  /// is of a concurrent writer.
  [[nodiscard]] bool read(EventTaker& taker);

 private:
  [[nodiscard]] std::uint32_t add_file(const std::string& path);
  [[nodiscard]] bool is_changed(std::uint32_t file) const noexcept;
  void order_files(LogRun& run);
  [[nodiscard]] Outcome<std::unique_ptr<storage::File>> open(const LogFile& file);
  void find_first_event(LogFile& file);
  [[nodiscard]] std::uint64_t seen_until(const LogFile& file) const;
  [[nodiscard]] bool read_run(LogRun& run, EventTaker& taker);
  void read_file(std::uint32_t id, EventTaker& taker, class WorkersOfRun& workers);
  /// Asks only now and then whether to stop, because a record takes less time than the question.
  [[nodiscard]] bool stopped() { return ++records_ % 256 == 0 && request_.stopped(); }

  storage::Storage& storage_;
  const LookRequest& request_;
  LogCursor& cursor_;
  const LogCursor* seen_;
  std::vector<std::uint32_t> changed_;  ///< Files with something to read, ascending.
  std::uint32_t records_ = 0;
  wire::EventOutline event_;
};

}  // namespace smd::detail::layout
