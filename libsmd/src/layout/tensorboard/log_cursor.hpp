// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/layout.hpp"
#include "layout/name_table.hpp"
#include "layout/tensorboard/event_files.hpp"
#include "storage/storage.hpp"
#include "types/problem_list.hpp"

#include <smd/limits.hpp>
#include <smd/problem.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What is known of a TensorBoard log directory after a look, and what the next look needs.
namespace smd::detail::layout {

/// One event file, up to where it was read.
struct LogFile {
  std::string path;
  std::uint32_t run = 0;
  std::optional<storage::FileStamp> stamp;  ///< Taken when it was last read; nullopt: it must be read again.
  std::uint64_t offset = 0;                 ///< Of the first record that was not read.
  bool compressed = false;                  ///< `offset` counts the bytes that it holds. It is read whole.
  bool uncertain = false;  ///< What was passed over may become a record: it must be read again when it grows.
  bool has_events = false;
  double first_time = std::numeric_limits<double>::infinity();  ///< Of its events.
  double last_time = -std::numeric_limits<double>::infinity();
  std::uint32_t place = 0;                          ///< In the order of its run.
  std::uint32_t worker = 0;                         ///< Worker id, if the file has events.
  bool stopped = false;                             ///< The last session event or summary is SessionLog STOP.
  ProblemList problems{limits::problems_per_file};  ///< Of records that were read.
  /// Why the bytes after `offset` were not read. `cut`: only because the record is incomplete, since `cut_since`.
  std::optional<Problem> rest;
  bool cut = false;
  std::chrono::steady_clock::time_point cut_since;
};

/// The plugin of a series, which determines the meaning of its values. Writers store it with the first value only.
enum class SeriesPlugin : std::uint8_t {
  none,
  scalars,
  histograms,
  images,
  audio,
  text,
  hparams,
  graph,
  custom_scalars,
};

/// The values of one tag, of one run and worker.
struct Series {
  SeriesPlugin plugin = SeriesPlugin::none;
  std::uint8_t kinds = 0;  ///< The kinds of values so far: a bit for each `ValueKind`.
  bool has_value = false;  ///< It has a value that counts.
  std::uint32_t last_file = 0;
  std::int64_t last_step = 0;  ///< The greatest step of values that count, or an upper bound of it.
  std::uint64_t last_row = 0;
  std::uint32_t next = no_id;  ///< The series that followed last time.
  std::string between;         ///< `wire::between_step_and_number` of its events, once one had a plain number.
  // Valid in the current look only:
  std::uint32_t look = 0;
  std::uint32_t name = no_id;          ///< Id in the look's tables.
  std::uint32_t reductions = no_id;    ///< The first of its reductions' names; the others follow.
  std::uint32_t supersession = no_id;  ///< The last one of this series.
};

/// All series of one run and worker. Only values of the same lane supersede each other.
struct Lane {
  NameTable tags;
  std::vector<Series> series;            ///< By id of the tag.
  std::optional<std::uint32_t> started;  ///< The last file that had a SessionLog START.
};

/// One folder with event files.
struct LogRun {
  std::string name;
  std::vector<std::uint32_t> files;  ///< In the order of their first events.
  std::vector<Lane> lanes;           ///< By worker.
  std::map<std::string, std::string> hyperparameters;
};

/// How far all files were read.
struct LogCursor {
  std::vector<LogFile> files;
  std::map<std::string, std::uint32_t, std::less<>> file_of_path;
  std::vector<LogRun> runs;
  std::uint32_t looks = 0;
  std::uint64_t next_row = 1;
  std::uint32_t workers = 0;  ///< The number of workers with values.
  /// The first of consecutive rows, and the file of these rows.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> file_of_rows;
  Extras extras;
  CheckedFiles checked;
};

/// Immutable once shared.
class LogListing final : public Listing {
 public:
  [[nodiscard]] std::string path(const StepPart& file) const override;

  /// Adds workers until there are `count`.
  void add_workers(std::uint32_t count);

  std::shared_ptr<const LogCursor> cursor;
};

}  // namespace smd::detail::layout
