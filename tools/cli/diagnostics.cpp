// SPDX-License-Identifier: Apache-2.0
#include "cli/diagnostics.hpp"

#include "cli/interruption.hpp"
#include "cli/mapped.hpp"
#include "cli/output_file.hpp"
#include "cli/progress.hpp"
#include "cli/text.hpp"
#include "text/environment.hpp"
#include "text/escape.hpp"
#include "text/path.hpp"

#include <smd/remote.hpp>

#include <fcntl.h>
#include <strings.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace smd::tool {

namespace {

constexpr std::size_t shown_repeats = 3;
/// The most bytes of one message: more than any legitimate message has, whatever it quotes.
constexpr std::size_t longest_message = 16 * 1024;

thread_local std::string last_failure_of_thread;
thread_local std::string_view trial_of_thread;
thread_local const Diagnostics* held_of_thread = nullptr;  // the one whose messages are kept
thread_local Diagnostics* keeper_of_thread = nullptr;      // the one that keeps them

/// The prefix by which messages name a file of a trial, or the trial itself. `text` follows it.
std::string place_of(std::string_view trial, std::string_view file, std::string_view text = {}) {
  if (text.starts_with(detail::in_quotes(trial))) {
    return {};
  }
  const std::string_view name = text::leaf_of(trial);
  if (!name.empty() && (file == name || text.starts_with(printable(name) + ": "))) {  // the file is the trial
    return std::string(trial.substr(0, trial.size() - name.size()));
  }
  const bool here = trial == "." && !file.empty() && file.front() != '/';
  std::string place(here ? std::string_view() : trial);
  if (!place.empty()) {
    place += file.empty() || file.front() == '/' ? ": " : place.ends_with('/') ? "" : "/";
  }
  return place;
}

/// Returns a text that begins with the name of the trial that it is about. Texts of the library have escaped names.
std::string text_about(std::string_view trial, std::string_view said) {
  std::string text = printable(said);
  const std::string name = printable(text::without_slashes(trial));
  const auto goes_on_with = [&text](std::string_view start, char next) {
    return text.starts_with(start) && text.size() > start.size() && text[start.size()] == next;
  };
  if (name.empty() || goes_on_with(name, ':') || (text.size() > name.size() && text::lies_in(text, name))) {
    return text;
  }
  const std::string_view last = text::leaf_of(name);
  if (goes_on_with(last, ':')) {  // trials may share the last part
    text.erase(0, last.size() + 2);
  }
  return name + ": " + text;
}

}  // namespace

std::optional<Level> parse_level(const char* wanted) noexcept {
  constexpr std::pair<const char*, Level> names[] = {
      {"off", Level::error},    {"critical", Level::error},  {"fatal", Level::error}, {"error", Level::error},
      {"warn", Level::warning}, {"warning", Level::warning}, {"info", Level::info},   {"debug", Level::debug}};
  for (const auto& [name, level] : names) {
    if (strcasecmp(wanted, name) == 0) {
      return level;
    }
  }
  return std::nullopt;
}

AboutTrial::AboutTrial(std::string_view trial) noexcept : before_(std::exchange(trial_of_thread, trial)) {}
AboutTrial::~AboutTrial() { trial_of_thread = before_; }

Diagnostics::Diagnostics(std::string_view tool)
    : tool_(tool),
      level_(parse_level(text::environment("SMDEBUG_LOG_LEVEL").value_or("").c_str()).value_or(Level::warning)) {
  if (const auto path = text::environment("SMDEBUG_LOG_PATH")) {
    constexpr int appending = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    log_ = detail::Descriptor(open(path->c_str(), appending, 0666));
    if (!log_) {
      warning("SMDEBUG_LOG_PATH: cannot write " + single_quoted(*path) + ": " + std::generic_category().message(errno));
    }
  }
}

Diagnostics::Diagnostics(const Diagnostics& speaker, Keeper)
    : tool_(speaker.tool_), level_(speaker.level_), names_trials_(speaker.names_trials_), keeps_(true) {
  const std::lock_guard lock(speaker.mutex_);
  forgiven_ = speaker.forgiven_;
}

Diagnostics& Diagnostics::receiver() noexcept { return held_of_thread == this ? *keeper_of_thread : *this; }
const Diagnostics& Diagnostics::receiver() const noexcept { return held_of_thread == this ? *keeper_of_thread : *this; }

void Diagnostics::take(Diagnostics&& keeper) {
  keeper.say_missing();
  raise(keeper.status_);
  for (const Kept& tell : keeper.kept_) {
    tell(*this);
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [key, repeated] : keeper.repeats_) {
    if (repeated.count > shown_repeats) {  // the others were kept
      repeats_.try_emplace(key, Repeated{repeated.level, 0}).first->second.count += repeated.count - shown_repeats;
    }
  }
}

HeldMessages::HeldMessages(Diagnostics& speaker) : speaker_(speaker), keeper_(speaker, Diagnostics::Keeper()) {
  held_of_thread = &speaker_;
  keeper_of_thread = &keeper_;
}

HeldMessages::~HeldMessages() { release(); }

void HeldMessages::release() noexcept {
  if (keeper_of_thread == &keeper_) {
    held_of_thread = nullptr;
    keeper_of_thread = nullptr;
  }
}

void HeldMessages::say() { speaker_.take(std::move(keeper_)); }

void Diagnostics::fail(std::string_view tag, std::string_view text, ExitStatus status) {
  raise(status);
  last_failure_of_thread = text;
  write(Level::error, tag, about_trial(text));
}

void Diagnostics::fail(const Error& error, std::string_view trial, const std::string& advice) {
  const auto* const read = dynamic_cast<const ReadError*>(&error);
  if (read != nullptr && read->problem.kind == ProblemKind::stopped) {
    const std::string up = std::string(trial) + ": the time limit was reached before " +
                           (is_remote_path(trial) ? "the server answered" : "all was read");
    raise(status_of(error));
    if (!interrupted()) {  // an interruption needs no message
      receiver().once(key_of(up), [&] { fail("Timeout", up, status_of(error)); });
    }
    return;
  }
  const std::string text = error.what();
  const std::string_view name = text::without_slashes(trial);
  const bool named = text.find(detail::in_quotes(name)) != std::string::npos;
  fail(error.tag(), (named ? text : text_about(name, text)) + advice, status_of(error));
}

void Diagnostics::nothing(std::string_view tag, std::string_view text) {
  raise(ExitStatus::no);
  write(Level::warning, tag, about_trial(text));
}

std::string Diagnostics::about_trial(std::string_view text) const {
  return names_trials_ ? text_about(trial_of_thread, text) : std::string(text);
}

// Begins with a newline, unlike the keys of `report_once`.
std::string Diagnostics::key_of(std::string_view text) const { return "\n" + about_trial(text); }

void Diagnostics::warning(std::string_view text) { write(Level::warning, "warning", about_trial(text)); }
void Diagnostics::warning_once(std::string_view text) {
  receiver().once(key_of(text), [&] { warning(text); });
}
void Diagnostics::note(std::string_view text) { write(Level::warning, "note", about_trial(text)); }
void Diagnostics::note_once(std::string_view text) {
  receiver().once(key_of(text), [&] { note(text); });
}
void Diagnostics::info(std::string_view text) { write(Level::info, "info", text); }
void Diagnostics::debug(std::string_view text) { write(Level::debug, "debug", text); }

LogSink Diagnostics::sink() {
  return [this](LogLevel level, std::string_view text) {
    if (level == LogLevel::debug) {
      debug(text);
    } else if (level == LogLevel::info) {
      info(text);
    } else {
      warning(text);
    }
  };
}

void Diagnostics::report(const Problem& problem, std::string_view trial) {
  const std::string said = to_string(problem);
  const std::string text = place_of(trial, problem.file, said) + said;
  switch (problem.kind) {
    case ProblemKind::damaged:
    case ProblemKind::not_found:
    case ProblemKind::access_denied:
    case ProblemKind::io:
    case ProblemKind::network:
      fail(to_string(problem.kind), text, status_of(problem.kind));
      return;
    case ProblemKind::absent:
    case ProblemKind::warning:
      warning(text);
      return;
    case ProblemKind::other_trial:
      if (other_trials_have_rows_) {
        info(text);
      } else {
        note(text);
      }
      return;
    case ProblemKind::note:
    case ProblemKind::not_yet:
      info(text);
      return;
    case ProblemKind::remark:
      note(text);
      return;
    case ProblemKind::stopped:
      info(text);
      fail(ReadError(problem), trial);
      return;
  }
}

void Diagnostics::report_once(const Problem& problem, std::string_view trial) {
  receiver().once(std::string(trial) + '\n' + std::string(to_string(problem.kind)) + to_string(problem),
                  [&] { report(problem, trial); });
}

void Diagnostics::once(const std::string& key, const std::function<void()>& tell) {
  {
    const std::lock_guard lock(mutex_);
    if (!reported_.insert(key).second) {
      return;
    }
  }
  const auto before = static_cast<std::ptrdiff_t>(kept_.size());
  tell();
  if (keeps_) {  // a keeper is used by one thread alone
    std::vector<Kept> texts(kept_.begin() + before, kept_.end());
    kept_.erase(kept_.begin() + before, kept_.end());
    kept_.emplace_back([key, texts = std::move(texts)](Diagnostics& speaker) {
      speaker.once(key, [&] { std::ranges::for_each(texts, [&](const Kept& text) { text(speaker); }); });
    });
  }
}

void Diagnostics::report_record(const Problem& problem, std::string_view trial, std::string_view record, Level level) {
  const bool absent = problem.kind == ProblemKind::absent;
  if (problem.kind == ProblemKind::warning) {
    warning(std::string(record) + ": " + place_of(trial, problem.file) + to_string(problem));
    return;
  }
  if (!absent && problem.kind != ProblemKind::not_yet) {
    report(problem, trial);
    return;
  }
  std::string_view tag = absent ? "TensorUnavailableForStep" : "StepNotYetAvailable";
  if (level == Level::error) {
    raise(ExitStatus::no);
  } else {
    level = absent ? level : Level::info;
    tag = absent ? "warning" : "info";
  }
  const std::string place = place_of(trial, problem.file);
  Diagnostics& to = receiver();
  const std::lock_guard lock(to.mutex_);
  Missing& missing =
      to.missing_.try_emplace(place + problem.file, Missing{level, tag, place + to_string(problem), {}, 0})
          .first->second;
  if (missing.records++ == 0) {
    missing.record = record;
  }
}

void Diagnostics::report_given_up(std::string_view trial, std::string_view file, std::string_view step) {
  raise(ExitStatus::no);
  const std::string place = place_of(trial, file) + std::string(file);
  Diagnostics& to = receiver();
  const std::lock_guard lock(to.mutex_);
  to.missing_.try_emplace(place, Missing{Level::error, "TensorUnavailableForStep",
                                         place + ": the event file, or its end, did not come", std::string(step), 0});
}

void Diagnostics::say_missing() {
  Diagnostics& to = receiver();
  std::map<std::string, Missing> all;
  {
    const std::lock_guard lock(to.mutex_);
    all.swap(to.missing_);
  }
  for (const auto& [file, missing] : all) {
    to.say(missing);
  }
}

void Diagnostics::say(const Missing& missing) {
  if (keeps_) {
    kept_.emplace_back([missing](Diagnostics& speaker) { speaker.say(missing); });
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    MissingFiles& files = missing_files_[missing.tag];
    if (files.said == shown_repeats) {
      files.level = missing.level;
      ++files.more;
      files.records += missing.record.empty() ? 0 : missing.records;
      return;
    }
    ++files.said;
  }
  const std::size_t more = missing.records > 1 ? missing.records - 1 : 0;
  const std::string others = more == 0 ? "" : " and " + counted(more, "more record");
  write(missing.level, missing.tag,
        (missing.record.empty() ? std::string() : missing.record + others + ": ") + missing.place);
}

std::string Diagnostics::last_failure() { return last_failure_of_thread; }

void Diagnostics::forgive(ExitStatus status) {
  const std::lock_guard lock(mutex_);
  forgiven_.push_back(status);
}

void Diagnostics::raise(ExitStatus status) noexcept {
  Diagnostics& to = receiver();
  const std::lock_guard lock(to.mutex_);
  if (!contains(to.forgiven_, status)) {
    to.status_ = combine(to.status_, status);
  }
}

ExitStatus Diagnostics::status() const noexcept {
  const Diagnostics& heard = receiver();
  const std::lock_guard lock(heard.mutex_);
  return heard.status_;
}

std::size_t Diagnostics::written() const {
  const std::lock_guard lock(mutex_);
  return written_;
}

void Diagnostics::write(Level level, std::string_view tag, std::string_view text) {
  if (!shows(level)) {
    return;
  }
  Diagnostics& to = receiver();
  const std::lock_guard lock(to.mutex_);
  Repeated& repeated = to.repeats_.try_emplace({std::string(tag), std::string(text)}, Repeated{level, 0}).first->second;
  if (++repeated.count > shown_repeats) {
    return;
  }
  if (to.keeps_) {
    to.kept_.emplace_back([level, tag = std::string(tag), text = std::string(text)](Diagnostics& speaker) {
      speaker.write(level, tag, text);
    });
  } else {
    to.write_line(level, tag, text);
  }
}

void Diagnostics::write_line(Level level, std::string_view tag, std::string_view text) {
  std::string rest = ": ";
  append_printable(rest, text::excerpt(text, longest_message), ascii_);
  rest += '\n';
  const std::string plain = tool_ + ": " + std::string(tag) + rest;
  Progress::erase_line();
  ++written_;
  // If a line cannot be written, there is nowhere left to say so. No message is worth waiting for its reader.
  if (color_ && level <= Level::warning) {
    const std::string_view color = level == Level::error ? "\x1b[31m" : "\x1b[33m";
    (void)write_all(STDERR_FILENO, tool_ + ": " + std::string(color) + std::string(tag) + "\x1b[0m" + rest, false);
  } else {
    (void)write_all(STDERR_FILENO, plain, false);
  }
  if (log_) {
    (void)write_all(log_.get(), plain, false);
  }
}

void Diagnostics::finish() {
  say_missing();
  const std::lock_guard lock(mutex_);
  for (const auto& [tag, files] : missing_files_) {
    if (files.more > 0 && shows(files.level)) {
      write_line(files.level, tag,
                 counted(files.more, "more event file", "is", "are") + " missing or not whole" +
                     (files.records == 0 ? "" : ", with " + counted(files.records, "record")));
    }
  }
  missing_files_.clear();
  for (const auto& [key, repeated] : repeats_) {
    if (repeated.count > shown_repeats) {
      write_line(repeated.level, key.first,
                 key.second + " (" + counted(repeated.count - shown_repeats, "more time") + ")");
    }
  }
  repeats_.clear();
}

}  // namespace smd::tool
