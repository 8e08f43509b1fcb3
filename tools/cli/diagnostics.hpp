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
#include <smd/log.hpp>
#include <smd/problem.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/exit_status.hpp"
#include "text/descriptor.hpp"

namespace smd::tool {

/// The severity of a message. The order is that of SMDEBUG_LOG_LEVEL.
enum class Level : std::uint8_t { error, warning, info, debug };

/// Returns the level that a value of SMDEBUG_LOG_LEVEL names, in any case. Nullopt for other values.
[[nodiscard]] std::optional<Level> parse_level(const char* name) noexcept;

/// Writes messages to standard error (and to the file that SMDEBUG_LOG_PATH names), and combines their exit statuses. A
/// text that repeats is written three times, then counted. Texts may hold names as they are: whatever could upset a
/// terminal is escaped here. Safe for concurrent use.
///
/// While a thread has a `HeldMessages`, its messages are kept there.
///
/// A line: `smd-ls: TensorUnavailable: 'los' was not saved; did you mean 'loss'?` — tool, stable tag, cause, next step.
/// Messages without a tag of their own have the level's: `smd-ls: warning: …`.
class Diagnostics {
 public:
  /// Level from SMDEBUG_LOG_LEVEL (default warning), file from SMDEBUG_LOG_PATH.
  explicit Diagnostics(std::string_view tool);

  /// Sets the level that `-q` and `-v` ask for; overrides the environment.
  void set_level(Level level) noexcept { level_ = level; }
  [[nodiscard]] bool shows(Level level) const noexcept { return level <= level_; }
  /// Whether to escape all characters beyond ASCII.
  void set_ascii(bool ascii) noexcept { ascii_ = ascii; }
  /// Whether there are several trials, so that messages name theirs, which `AboutTrial` sets.
  void name_trials(bool several) noexcept { names_trials_ = several; }
  void set_color(bool color) noexcept { color_ = color; }

  /// Reports a failure under its stable tag; its status is combined with the command's.
  void fail(std::string_view tag, std::string_view text, ExitStatus status);
  /// Reports a library error with its own tag, and the status that `status_of` gives it. Puts `trial`, if not empty,
  /// before the text unless the text names it, and `advice` behind it.
  void fail(const Error& error, std::string_view trial = {}, const std::string& advice = {});
  /// Reports that there is nothing to show, and why, under its stable tag; status 1. Not shown with -q.
  void nothing(std::string_view tag, std::string_view text);
  void warning(std::string_view text);
  void warning_once(std::string_view text);  ///< Unless it was written before.
  void note(std::string_view text);          ///< Shown unless -q.
  void note_once(std::string_view text);     ///< Unless it was written before.
  void info(std::string_view text);          ///< Shown with -v.
  void debug(std::string_view text);         ///< Shown with -vv.
  [[nodiscard]] LogSink sink();              ///< What the library logs is such a message.

  /// Reports a problem of a trial, with its path. Damage: an error, status 4. No access, a failed read, no such file:
  /// an error, status 3. `absent` and `warning`: a warning. `remark` and `other_trial`: a note. `note` and `not_yet`:
  /// info. `stopped`: an error, status 124.
  void report(const Problem& problem, std::string_view trial);

  /// From now on `other_trial` is shown only with -v: for commands that are about those too.
  void other_trials_have_rows() noexcept { other_trials_have_rows_ = true; }

  /// As `report`, unless the same problem was reported before.
  void report_once(const Problem& problem, std::string_view trial);

  /// Reports why a record, say `'loss' at step 3`, could not be read. If its file is absent or not yet complete,
  /// `say_missing` reports the file once, with the number of its records: TensorUnavailableForStep or
  /// StepNotYetAvailable, status 1. With `level` `warning` the status does not change: for records that only add a
  /// detail.
  void report_record(const Problem& problem, std::string_view trial, std::string_view record,
                     Level level = Level::error);

  /// As `report_record`, for a file that did not appear in time, even if none of its records is wanted. Call it before
  /// `report_record` for records of the file.
  void report_given_up(std::string_view trial, std::string_view file, std::string_view step);

  /// Reports the files found missing since the last call, at most three in all; `finish` reports how many more there
  /// were.
  void say_missing();

  /// The text of this thread's last failure; empty if there was none.
  [[nodiscard]] static std::string last_failure();
  /// Ignores this status from now on.
  void forgive(ExitStatus status);
  /// Counts a status without a message.
  void raise(ExitStatus status) noexcept;
  /// The combined status of everything reported so far.
  [[nodiscard]] ExitStatus status() const noexcept;

  /// How many lines were written so far.
  [[nodiscard]] std::size_t written() const;

  /// Writes the counts of texts that repeated. Called by `run_command`.
  void finish();

 private:
  friend class HeldMessages;
  struct Keeper {};
  /// Makes a keeper: it holds messages back, for a thread whose turn to print has not come.
  Diagnostics(const Diagnostics& speaker, Keeper);
  /// Prints what a keeper held back, as if it had been reported here.
  void take(Diagnostics&& keeper);
  /// The keeper of this thread's messages; this object if there is none.
  [[nodiscard]] Diagnostics& receiver() noexcept;
  [[nodiscard]] const Diagnostics& receiver() const noexcept;

  /// `text`, prefixed with the name of this thread's trial if trials are named.
  [[nodiscard]] std::string about_trial(std::string_view text) const;
  /// The key of a text for `once`.
  [[nodiscard]] std::string key_of(std::string_view text) const;
  /// Calls `tell`, which reports something, unless something was reported under this key before.
  void once(const std::string& key, const std::function<void()>& tell);
  void write(Level level, std::string_view tag, std::string_view text);
  void write_line(Level level, std::string_view tag, std::string_view text);

  std::string tool_;
  Level level_ = Level::warning;
  bool ascii_ = false;
  bool color_ = false;
  bool names_trials_ = false;
  bool other_trials_have_rows_ = false;
  detail::Descriptor log_;  // of the log file
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
    std::string place;  // and what is wrong with it
    std::string record;
    std::size_t records;  // how many of its records were wanted
  };
  std::map<std::string, Missing> missing_;  // by file
  struct MissingFiles {
    Level level = Level::error;
    std::size_t said = 0;
    std::size_t more = 0;
    std::size_t records = 0;  // of the files that were not named
  };
  std::map<std::string_view, MissingFiles> missing_files_;  // by tag
  void say(const Missing& missing);
  ExitStatus status_ = ExitStatus::yes;
  std::size_t written_ = 0;
  std::vector<ExitStatus> forgiven_;

  using Kept = std::function<void(Diagnostics& speaker)>;  // says what a keeper holds
  bool keeps_ = false;
  std::vector<Kept> kept_;
};

/// While it lives, until `release`, this thread's messages to a Diagnostics are kept, and `status` there returns that
/// of the kept messages. Used where trials are visited side by side, so that messages come in the order of trials. At
/// most one per thread.
class HeldMessages {
 public:
  explicit HeldMessages(Diagnostics& speaker);
  ~HeldMessages();

  /// This thread's messages are written again. Call it in the thread that made this object.
  void release() noexcept;
  /// Writes the kept messages, in any thread. Call it after `release`.
  void say();

 private:
  Diagnostics& speaker_;
  Diagnostics keeper_;
};

/// While it lives, this thread's messages are about a trial, whose name must outlive it.
class AboutTrial {
 public:
  explicit AboutTrial(std::string_view trial) noexcept;
  AboutTrial(const AboutTrial&) = delete;
  AboutTrial& operator=(const AboutTrial&) = delete;
  ~AboutTrial();

 private:
  std::string_view before_;
};

/// While one lives, what the library logs (such as a plug-in's rule skipping a step) is a message of the command.
class LibraryMessages {
 public:
  explicit LibraryMessages(Diagnostics& messages) { set_log_sink(messages.sink()); }
  LibraryMessages(const LibraryMessages&) = delete;
  LibraryMessages& operator=(const LibraryMessages&) = delete;
  ~LibraryMessages() { set_log_sink({}); }
};

/// A tag of messages, and its usual status.
struct MessageTag {
  std::string_view tag;
  ExitStatus status;
  std::string_view meaning;  ///< Empty if no command prints it.
};

/// All tags, in the order of the documentation. Tests compare this table with the sources.
[[nodiscard]] std::span<const MessageTag> message_tags() noexcept;

/// The exit status of a library error. No other code maps errors to statuses.
[[nodiscard]] ExitStatus status_of(const Error& error) noexcept;
[[nodiscard]] ExitStatus status_of(ProblemKind kind) noexcept;

}  // namespace smd::tool
