// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/remote.hpp>
#include <smd/step.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace smd {

/// Which global steps a `Trial` object loads. It bounds what is *read*: index files outside the range are listed, but
/// not opened (except the newest of them, if the last complete step cannot be determined otherwise).
class StepRange {
 public:
  /// Every step.
  StepRange() = default;
  /// The half-open range [first, end); `end` nullopt: no upper bound.
  static StepRange between(GlobalStep first, std::optional<GlobalStep> end) noexcept {
    StepRange range;
    range.first_ = first;
    range.end_ = end;
    return range;
  }
  /// The newest `count` steps for which there are index files, by their file names, and all later ones.
  static StepRange newest(std::size_t count) noexcept {
    StepRange range;
    range.newest_ = count;
    return range;
  }
  /// The oldest `count` steps for which there are index files, by their file names.
  static StepRange oldest(std::size_t count) noexcept {
    StepRange range;
    range.oldest_ = count;
    return range;
  }

  [[nodiscard]] std::optional<GlobalStep> first() const noexcept { return first_; }
  [[nodiscard]] std::optional<GlobalStep> end() const noexcept { return end_; }
  [[nodiscard]] std::optional<std::size_t> newest() const noexcept { return newest_; }
  [[nodiscard]] std::optional<std::size_t> oldest() const noexcept { return oldest_; }

 private:
  std::optional<GlobalStep> first_;
  std::optional<GlobalStep> end_;
  std::optional<std::size_t> newest_;
  std::optional<std::size_t> oldest_;
};

/// Which values a trial shows if later ones superseded some of them (after a restart of the job, say).
enum class Superseded : std::uint8_t {
  left_out,  ///< Those that count.
  only,      ///< Those that were superseded.
  included,  ///< All; `TensorEntry::superseded` tells them apart.
};

/// How a trial is opened and read.
// All members have initialisers, so that `{.name = …}` compiles without warnings.
struct TrialOptions {
  std::string name = {};       ///< For messages and output; default: the last part of the path.
  std::string layout = {};     ///< Read as that layout, whatever else lies there (`layouts`); default: as it is found.
  std::string step_name = {};  ///< In W&B run files, CSV and JSON lines: the name whose values are the steps.
  StepRange range_steps = {};  ///< What to read at first; `Trial::load_range` reads more.
  unsigned jobs = 0;           ///< Threads; 0: one per CPU. On S3: requests at once; 0: 32.
  bool verify = true;          ///< Check payload checksums if records have them. Length checksums are always checked.
  bool strict = false;         ///< Throw IndexReaderException at the first damaged index file.
  /// In a layout without step files, treat the trial as ended. False: more may appear at any time.
  bool as_it_stands = false;
  Superseded superseded = Superseded::left_out;
  bool auto_refresh = true;  ///< Look for new steps on every query, as the reference does.
  /// Called from time to time with the number of index files read and their total; by `check_trial` also with the
  /// number of step files checked and their total. Always in the calling thread. Must not call back into the trial.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = {};
  /// Nullopt: SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW, or 1000 if that is not set.
  std::optional<std::size_t> incomplete_step_wait_window = {};
  RemoteOptions remote = {};  ///< For trials on S3.
};

}  // namespace smd
