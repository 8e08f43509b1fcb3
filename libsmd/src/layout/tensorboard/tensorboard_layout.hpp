// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/forward_reader.hpp"
#include "layout/layout_kind.hpp"
#include "layout/series_rows.hpp"
#include "layout/tensorboard/event_files.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// What is known of a TensorBoard log directory after a look, and what the next look needs.
namespace smd::detail::layout {

/// One event file, up to where it was read.
struct LogFile : GrowingFile {  // up to the first record that was not read
  std::uint32_t run = 0;
  bool compressed = false;  ///< `offset` counts the bytes that it holds. It is read whole.
  bool uncertain = false;   ///< What was passed over may become a record: it must be read again when it grows.
  bool has_events = false;
  bool lost_records = false;  ///< Among those that were read, some are damaged: metadata of tags may be lost.
  double first_time = std::numeric_limits<double>::infinity();  ///< Of its events.
  double last_time = -std::numeric_limits<double>::infinity();
  std::uint32_t place = 0;   ///< In the order of its run.
  std::uint32_t worker = 0;  ///< Worker id, if the file has events.
  bool stopped = false;      ///< The last session event or summary is SessionLog STOP.
  bool cut = false;          ///< `rest` says only that a record is incomplete, since `cut_since`.
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

/// What is known of one tag besides its values.
struct TagFacts {
  SeriesPlugin plugin = SeriesPlugin::none;
  bool has_namesake = false;  ///< Another run has a tag of the same full name.
  /// `wire::between_step_and_number` of its events, once one had a plain number; not if it has a namesake.
  std::string between;
};

/// All series of one run and worker. Only values of the same lane supersede each other.
struct Lane : SeriesTable {
  std::vector<TagFacts> facts;           ///< By id of the tag, as `series`.
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
struct LogCursor : SeriesCursor {
  std::vector<LogFile> files;
  std::map<std::string, std::uint32_t, std::less<>> file_of_path;
  std::vector<LogRun> runs;
  CheckedFiles checked;
};

using LogListing = ListingOf<LogCursor>;

}  // namespace smd::detail::layout
