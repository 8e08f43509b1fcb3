// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <smd/error.hpp>
#include <smd/problem.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/exit_status.hpp"

namespace smd::tool {

/// How grave a message is. The order is that of SMDEBUG_LOG_LEVEL.
enum class Level : std::uint8_t { error, warning, info, debug };

/// By the names that SMDEBUG_LOG_LEVEL takes, in any case; nothing for others.
[[nodiscard]] std::optional<Level> parse_level(const char* name) noexcept;

/// Writes messages to standard error (and to the file that SMDEBUG_LOG_PATH names), and keeps the exit status that they
/// add up to. A text that repeats is written three times, then counted. Names may stand in texts raw: whatever could
/// upset a terminal is escaped here. Safe for concurrent use.
///
/// While `HeldMessages` of a thread live, what it says is kept there.
///
/// A line: `smd-ls: TensorUnavailable: 'los' was not saved; did you mean 'loss'?` — tool, stable tag, cause, next step.
/// Messages without a tag of their own have the level's: `smd-ls: warning: …`.
class Diagnostics {
 public:
  /// Level from SMDEBUG_LOG_LEVEL (default warning), file from SMDEBUG_LOG_PATH.
  explicit Diagnostics(std::string_view tool);
  Diagnostics(const Diagnostics&) = delete;
  Diagnostics& operator=(const Diagnostics&) = delete;
  ~Diagnostics();

  /// What `-q` and `-v` ask for; beats the environment.
  void set_level(Level level) noexcept { level_ = level; }
  [[nodiscard]] bool shows(Level level) const noexcept { return level <= level_; }
  /// Escape beyond ASCII too.
  void set_ascii(bool ascii) noexcept { ascii_ = ascii; }
  /// There are several trials: messages name the one that they are about, as `AboutTrial` tells.
  void name_trials(bool several) noexcept { names_trials_ = several; }
  void set_color(bool color) noexcept { color_ = color; }

  /// A failure under its stable tag; the status counts towards the command's.
  void fail(std::string_view tag, std::string_view text, ExitStatus status);
  /// A library error with its own tag, and the status that `status_of` gives it. `trial`, if not empty, is put before
  /// the text where the text does not name it.
  void fail(const Error& error, std::string_view trial = {});
  /// Nothing to show, and why, under its stable tag; status 1. Shown unless -q: there the status answers.
  void nothing(std::string_view tag, std::string_view text);
  void warning(std::string_view text);
  void warning_once(std::string_view text);  ///< Unless it was said before.
  void note(std::string_view text);          ///< Shown unless -q.
  void info(std::string_view text);          ///< Shown with -v.
  void debug(std::string_view text);         ///< Shown with -vv.

  /// A problem of a trial. Damage: an error, status 4. No access, a failed read, no such file: an error, status 3.
  /// `absent`, a warning: a warning. A note (it harms nothing), not there yet: info. Each with the path.
  void report(const Problem& problem, std::string_view trial);

  /// The same, unless it was said before.
  void report_once(const Problem& problem, std::string_view trial);

  /// Why a record, say `'loss' at step 3`, could not be read. Of records whose file is not there, or not whole yet, the
  /// file is said once, with their number, by `say_missing`: TensorUnavailableForStep or StepNotYetAvailable, status 1.
  /// With `level` `warning` the status stays: for records that only add a detail.
  void report_record(const Problem& problem, std::string_view trial, std::string_view record,
                     Level level = Level::error);

  /// The same for a file that did not come in time, whether or not any of its records are wanted. Call it before those
  /// of the records.
  void report_given_up(std::string_view trial, std::string_view file, std::string_view step);

  /// Says which files were missing since the last time, three of them in all; `finish` says how many more there were.
  void say_missing();

  /// The text of this thread's last failure; empty if there was none.
  [[nodiscard]] static std::string last_failure();
  /// From now on this status does not count.
  void forgive(ExitStatus status);
  /// Counts a status without a message.
  void raise(ExitStatus status) noexcept;
  /// What all that was said so far adds up to.
  [[nodiscard]] ExitStatus status() const noexcept;

  /// Writes the counts of texts that repeated. Called by `run_command`.
  void finish();

  /// Called before each line, so that a progress display can get out of the way.
  void set_before_line(void (*hook)()) noexcept { before_line_ = hook; }

 private:
  friend class HeldMessages;
  struct Keeper {};
  /// Holds messages back, for a thread whose turn to print has not come.
  Diagnostics(const Diagnostics& speaker, Keeper);
  /// Prints what a keeper held back, as if it had been reported here.
  void take(Diagnostics&& keeper);
  /// The keeper of this thread's messages; else this.
  [[nodiscard]] Diagnostics& receiver() noexcept;
  [[nodiscard]] const Diagnostics& receiver() const noexcept;

  /// With the name of this thread's trial before it, if trials are named.
  [[nodiscard]] std::string about_trial(std::string_view text) const;
  /// Calls `tell`, which says something here, unless something was said under this key before.
  void once(std::string key, const std::function<void()>& tell);
  void write(Level level, std::string_view tag, std::string_view text);
  void write_line(Level level, std::string_view tag, std::string_view text);

  std::string tool_;
  Level level_ = Level::warning;
  bool ascii_ = false;
  bool color_ = false;
  bool names_trials_ = false;
  int log_ = -1;  // descriptor of the log file
  void (*before_line_)() = nullptr;
  mutable std::mutex mutex_;
  struct Repeated {
    Level level;
    std::size_t count;
  };
  std::map<std::pair<std::string, std::string>, Repeated> repeats_;  // by tag and text
  std::set<std::string> reported_;
  struct Missing {
    Level level;
    std::string_view tag;
    std::string place;  // and what is the matter with it
    std::string record;
    std::size_t records;  // that were wanted
  };
  std::map<std::string, Missing> missing_;  // by file
  struct MissingFiles {
    Level level = Level::error;
    std::size_t said = 0;
    std::size_t more = 0;
    std::size_t records = 0;  // of those that were not said
  };
  std::map<std::string_view, MissingFiles> missing_files_;  // by tag
  void say(Missing&& missing);
  ExitStatus status_ = ExitStatus::yes;
  std::vector<ExitStatus> forgiven_;

  /// What a keeper was told: a text, or a file that was missing.
  struct Kept {
    Level level;
    std::string tag;
    std::string text;
    std::string once;  // not empty: unless the speaker said what has this key
    std::optional<Missing> missing = {};
  };
  bool keeps_ = false;
  std::string once_;  // of what is being told
  std::vector<Kept> kept_;
};

/// While it lives and until `say`, what this thread says to a Diagnostics is kept, and its `status` is that of what was
/// kept. Used where trials are visited side by side: messages come in the order of trials. One for a thread at a time.
class HeldMessages {
 public:
  explicit HeldMessages(Diagnostics& speaker);
  HeldMessages(const HeldMessages&) = delete;
  HeldMessages& operator=(const HeldMessages&) = delete;
  ~HeldMessages();

  /// This thread is heard again. Call it in the thread that made this.
  void release() noexcept;
  /// Says what was kept, in any thread. After `release`.
  void say();

 private:
  Diagnostics& speaker_;
  Diagnostics keeper_;
};

/// While it lives, what this thread says is about a trial, which must outlive it.
class AboutTrial {
 public:
  explicit AboutTrial(std::string_view trial) noexcept;
  AboutTrial(const AboutTrial&) = delete;
  AboutTrial& operator=(const AboutTrial&) = delete;
  ~AboutTrial();

 private:
  std::string_view before_;
};

/// A tag of messages, and the status that it mostly has.
struct MessageTag {
  std::string_view tag;
  ExitStatus status;
  std::string_view meaning;  ///< Empty if no command prints it.
};

/// All of them, in the order of the documentation. The tests hold this table against the sources.
[[nodiscard]] std::span<const MessageTag> message_tags() noexcept;

/// The status that a library error gives a command: the one table of them.
[[nodiscard]] ExitStatus status_of(const Error& error) noexcept;
[[nodiscard]] ExitStatus status_of(ProblemKind kind) noexcept;

}  // namespace smd::tool
