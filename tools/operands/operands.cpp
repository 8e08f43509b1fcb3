// SPDX-License-Identifier: Apache-2.0
#include "operands/operands.hpp"

#include "cli/exit_status.hpp"
#include "cli/mapped.hpp"
#include "cli/option_hints.hpp"
#include "cli/output_file.hpp"
#include "cli/text.hpp"
#include "text/descriptor.hpp"
#include "text/limits.hpp"
#include "text/path.hpp"
#include "text/system_problem.hpp"

#include <smd/error.hpp>
#include <smd/find.hpp>
#include <smd/parallel.hpp>
#include <smd/remote.hpp>

#include <boost/filesystem/directory.hpp>
#include <boost/filesystem/operations.hpp>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>

namespace smd::tool {

namespace {

namespace fs = boost::filesystem;
using boost::system::error_code;

/// For a path that does not exist: existing folders whose names are nearest to its first part that does not exist; also
/// files if both names have an ending.
std::vector<std::string> nearest_paths(const std::string& path) {
  constexpr std::size_t most_entries = 10'000;
  error_code error;
  fs::path wanted{std::string(text::without_slashes(path))};
  fs::path rest;
  while (!wanted.parent_path().empty() && !fs::exists(wanted.parent_path(), error)) {
    rest = rest.empty() ? wanted.filename() : wanted.filename() / rest;
    wanted = wanted.parent_path();
  }
  const fs::path parent = wanted.parent_path();
  std::vector<std::string> names;
  fs::directory_iterator entry(parent.empty() ? fs::path(".") : parent, error);
  for (; !error && entry != fs::directory_iterator() && names.size() < most_entries; entry.increment(error)) {
    error_code unknown;
    const fs::file_type type = entry->status(unknown).type();
    if (type == fs::directory_file ||
        (type == fs::regular_file && wanted.has_extension() && entry->path().has_extension())) {
      names.push_back(entry->path().filename().string());
    }
  }
  std::vector<std::string> nearest = detail::nearest(wanted.filename().string(), names);
  for (std::string& name : nearest) {
    const fs::path folder = parent / name;
    name = (!rest.empty() && fs::exists(folder / rest, error) ? folder / rest : folder).string();
  }
  return nearest;
}

/// An open trial has a descriptor. Many systems give a process few of them, and let it ask for more.
void allow_descriptors() noexcept {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

constexpr int look_for_stop_ms = 100;
/// The most operands that are read ahead, so that the total is known early.
constexpr std::size_t most_listed = 100'000;

/// Whether reading standard input would not block: bytes, its end or an error are there.
bool input_is_ready(int timeout_ms) {
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, timeout_ms) != 0 && input.revents != 0;
}

/// Trials on S3 that are visited at once. Each may have as many requests as -j says, but all share a client, which has
/// at most that many under way; most of the time a small trial waits for a single one.
constexpr unsigned remote_visits = 16;
/// How many visits for each thread may be under way or wait to be shown.
constexpr std::size_t visits_ahead = 8;

/// The visits of a command, and whose turn it is.
class Visits {
 public:
  Visits(OperandSource& operands, const VisitPlan& plan, Diagnostics& messages,
         const std::function<Show(const Visit&)>& visit, unsigned threads, unsigned jobs)
      : alone_(threads == 1 && operands.total() == 1),
        operands_(operands),
        messages_(messages),
        visit_(visit),
        threads_(threads),
        jobs_(jobs),
        jobs_alone_(plan.jobs),
        interrupted_(plan.interruption, [this] { no_more_.request_stop(); }) {
    if (!alone_) {
      progress_.emplace(plan.doing, 0);
      silence_.emplace();
    }
  }

  /// Returns how many visits were shown, when all were, or have ended early (`over_`).
  std::size_t run() {
    parallel_for_each({.count = threads_, .jobs = threads_}, [this](const LoopIndex&) { work(); });
    return shown_;
  }

 private:
  /// Call it with `mutex_` held. @throws VisitsOver.
  [[nodiscard]] bool is_turn_of(std::size_t number) const {
    if (over_) {
      throw VisitsOver();
    }
    return shown_ == number;
  }

  struct Next {
    std::string operand;
    std::size_t number;
    unsigned jobs;
  };

  void work() {
    try {
      while (std::optional<Next> next = take()) {
        finish(next->number, result_of(*next));
      }
    } catch (const VisitsOver&) {  // its result is not needed
    } catch (...) {
      const std::lock_guard lock(mutex_);
      end();
      throw;
    }
  }

  /// Nullopt if there are no more operands, or the visits have ended.
  std::optional<Next> take() {
    const std::lock_guard one_reads(reading_);
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return over_ || started_ - shown_ < threads_ * visits_ahead; });
      if (over_) {
        return std::nullopt;
      }
    }
    std::optional<std::string> operand = operands_.next(no_more_.get_token());
    if (!operand || no_more_.stop_requested()) {
      return std::nullopt;
    }
    const std::optional<std::size_t> total = operands_.total();
    const std::lock_guard lock(mutex_);
    total_ = total;
    if (is_remote_path(*operand) || threads_ == 1) {
      return Next{*std::move(operand), started_++, jobs_alone_};
    }
    // The last visits share the jobs that finished threads leave idle.
    const std::size_t left = total ? *total - started_ : threads_;
    const auto at_once = static_cast<unsigned>(std::clamp<std::size_t>(left, 1, threads_));
    return Next{*std::move(operand), started_++, std::max(jobs_ / at_once, 1U)};
  }

  /// Visits an operand. Show prints its result, or throws its exception, when its turn has come.
  Show result_of(const Next& next) {
    std::shared_ptr<HeldMessages> held;
    if (!alone_) {  // with one thread too: messages must not depend on the number of threads
      held = std::make_shared<HeldMessages>(messages_);
    }
    Show show;
    try {
      Turn turn;
      turn.mine = [&] {
        const std::lock_guard lock(mutex_);
        return is_turn_of(next.number);
      };
      turn.wait = [&] {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return is_turn_of(next.number); });
      };
      show = visit_({next.operand, next.jobs, turn});
    } catch (const VisitsOver&) {
      throw;  // `held` goes, with all that it holds
    } catch (...) {
      show = [failure = std::current_exception()]() -> bool { std::rethrow_exception(failure); };
    }
    if (held) {
      held->release();
    }
    return [held, show = std::move(show)] {
      if (held) {
        held->say();
      }
      return show();
    };
  }

  /// Shows a result if its turn has come, and then the next ones that are ready.
  void finish(std::size_t number, Show show) {
    std::unique_lock lock(mutex_);
    ready_.emplace(number, std::move(show));
    if (number != shown_) {
      return;  // the visit whose turn it is shows it later
    }
    for (auto first = ready_.find(shown_); first != ready_.end() && !over_; first = ready_.find(shown_)) {
      const Show next = std::move(first->second);
      ready_.erase(first);
      const std::optional<std::size_t> total = total_;
      lock.unlock();
      const bool more = next();
      if (progress_) {
        progress_->at(number + 1, total.value_or(0));
      }
      lock.lock();
      ++number;
      ++shown_;
      if (!more) {
        end();
      }
      changed_.notify_all();
    }
  }

  /// Call it with `mutex_` held.
  void end() noexcept {
    over_ = true;
    no_more_.request_stop();
    changed_.notify_all();
  }

  const bool alone_;  // a single trial, which says things at once and shows its own progress
  OperandSource& operands_;
  Diagnostics& messages_;
  const std::function<Show(const Visit&)>& visit_;
  const unsigned threads_;
  const unsigned jobs_;
  const unsigned jobs_alone_;  // of a visit beside which no other takes threads
  std::mutex reading_;         // held while an operand is taken
  std::stop_source no_more_;   // requested when no more operands are to be taken
  std::stop_callback<std::function<void()>> interrupted_;
  std::mutex mutex_;  // guards everything below
  std::condition_variable changed_;
  std::size_t started_ = 0;
  std::size_t shown_ = 0;  // the number whose turn it is
  std::optional<std::size_t> total_;
  std::map<std::size_t, Show> ready_;  // of visits whose turn has not come
  bool over_ = false;
  std::optional<Progress> progress_;          // of the visit whose turn it is
  std::optional<Progress::Silence> silence_;  // of single trials
};

}  // namespace

void fail_to_open(const Error& error, const std::string& path, Diagnostics& messages, std::string_view hint) {
  error_code unknown;
  const bool missing = error.tag() == "NotFound" && !fs::exists(path, unknown);
  if (const std::string both = missing ? trial_and_tensor(path) : ""; !both.empty()) {
    messages.fail(error.tag(), single_quoted(path) + " " + both, ExitStatus::unreadable);
  } else {
    messages.fail(error, path, missing ? meant_instead(path, hint) : "");
  }
}

std::string meant_instead(const std::string& path, std::string_view hint) {
  if (is_remote_path(path)) {
    return {};
  }
  error_code unknown;
  if (fs::exists(path, unknown)) {
    return {};  // it has come meanwhile
  }
  std::string nearest = did_you_mean(nearest_paths(path));
  if (!nearest.empty() || fs::exists(fs::path(path).parent_path(), unknown)) {
    return nearest;  // in an existing folder, it must have been meant as a path
  }
  return std::string(hint);
}

void say_nothing_listed(Diagnostics& messages) {
  messages.nothing("TensorUnavailable", "nothing is selected: standard input lists nothing");
}

OperandSource operand_source(std::span<const std::string> operands, bool null_separated, Diagnostics& messages) {
  messages.name_trials(may_be_several(operands));
  OperandSource source(operands, null_separated);
  if (source.peek() == nullptr && lists_operands(operands)) {
    say_nothing_listed(messages);
  }
  return source;
}

std::vector<std::string> all_operands(std::span<const std::string> operands, bool null_separated,
                                      Diagnostics& messages) {
  return operand_source(operands, null_separated, messages).rest();
}

bool lists_operands(std::span<const std::string> operands) noexcept {
  return !operands.empty() && operands.back() == "-";
}

bool may_be_several(std::span<const std::string> operands) noexcept {
  return operands.size() > 1 || lists_operands(operands);
}

bool is_place(const std::string& operand) {
  error_code unknown;
  return is_remote_path(operand) || fs::exists(operand, unknown);
}

bool may_come(const std::string& path) {
  error_code error;
  return is_remote_path(path) || (!fs::exists(path, error) && error != boost::system::errc::filename_too_long);
}

std::optional<std::string> trial_with_tensor(std::string_view tensor, std::span<const std::string> operands,
                                             const TrialOptions& options) {
  for (const std::string& operand : operands) {
    try {
      if (is_place(operand) && Trial::open(operand, options).has_tensor(tensor)) {
        return operand;
      }
    } catch (const Error&) {  // no trial, or none that can be read: reading it reports why
    }
  }
  return std::nullopt;
}

std::string_view hint_for(const std::string& operand, std::span<const std::string> operands) noexcept {
  const bool later = !operands.empty() && operand != operands.front() && !lists_operands(operands);
  return later ? "; operands are trials, tensors are chosen with -n, -e or -c" : "";
}

void with_trial(const std::string& path, const TrialOptions& options, Diagnostics& messages,
                const std::function<void(Trial&)>& visit, std::string_view hint, const OpenTrial& open) {
  const auto visit_once = [&visit](Trial& trial) {
    visit(trial);
    return false;
  };
  KeptTrials(options, messages).open(path, visit_once, hint, open);
}

void KeptTrials::open(const std::string& path, const std::function<bool(Trial&)>& visit, std::string_view hint,
                      const OpenTrial& open) {
  Kept& kept = kept_.emplace_back(path);
  if (kept_.size() == 2) {
    allow_descriptors();
  }
  bool stays = false;
  try {
    TrialOptions watched = options_;
    watched.name = path;
    say_remote(watched.remote, messages_);
    watched.progress = [&kept](std::uint64_t done, std::uint64_t total) { kept.progress.at(done, total); };
    kept.trial = open ? open(watched) : std::optional(Trial::open(path, watched));
    if (kept.trial) {
      add_input(kept.trial->path());
      const AboutTrial about(path);
      try {
        if (options_.superseded == Superseded::only && kept.trial->superseded().empty()) {
          messages_.nothing("TensorUnavailable", path + ": no value is superseded, the job never went back");
        } else {
          stays = visit(*kept.trial);
        }
      } catch (const InvalidArgument&) {
        throw;
      } catch (const Error& error) {
        messages_.fail(error, path);
      }
      if (!stays) {
        report(kept);
      }
    }
  } catch (const InvalidArgument& error) {
    throw UsageError(error.what());
  } catch (const Error& error) {
    fail_to_open(error, path, messages_, hint);
  }
  if (!stays) {
    kept_.pop_back();
  }
}

void KeptTrials::report(const Kept& kept) const {
  const AboutTrial about(kept.path);
  for (const Problem& problem : kept.trial->problems()) {
    messages_.report_once(problem, kept.trial->path());
  }
}

void KeptTrials::close() {
  for (const Kept& kept : kept_) {
    report(kept);
  }
  kept_.clear();
}

bool wait_for_input(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (!stop.stop_possible() || input_is_ready(look_for_stop_ms)) {
      return true;
    }
  }
  return false;
}

OperandSource::OperandSource(std::span<const std::string> operands, bool null_separated)
    : given_(operands.first(operands.size() - (lists_operands(operands) ? 1 : 0))),
      separator_(null_separated ? '\0' : '\n'),
      ended_(!lists_operands(operands)) {
  refuse_if(contains(given_, "-"), "'-' must be the last operand");
}

OperandSource OperandSource::of(std::span<const std::string> operands) {
  OperandSource source({}, false);
  source.given_ = operands;
  return source;
}

const std::string* OperandSource::peek(const std::stop_token& stop) {
  if (at_ < given_.size()) {
    return &given_[at_];
  }
  while (waiting_ == 0 && !ended_) {
    if (!wait_for_input(stop)) {
      return nullptr;
    }
    read_list();
  }
  while (!ended_ && waiting_ < most_listed && input_is_ready(0)) {
    read_list();
  }
  if (!first_ && waiting_ > 0) {
    const auto end = std::ranges::find(ahead_, separator_);
    first_.emplace(ahead_.begin(), end);
    ahead_.erase(ahead_.begin(), end + 1);
  }
  return first_ ? &*first_ : nullptr;
}

std::optional<std::string> OperandSource::next(const std::stop_token& stop) {
  if (peek(stop) == nullptr) {
    return std::nullopt;
  }
  if (at_ < given_.size()) {
    return given_[at_++];
  }
  --waiting_;
  return std::exchange(first_, std::nullopt);
}

std::vector<std::string> OperandSource::rest() {
  std::vector<std::string> all;
  while (std::optional<std::string> operand = next()) {
    all.push_back(*std::move(operand));
  }
  return all;
}

std::optional<std::size_t> OperandSource::total() const noexcept {
  return ended_ ? std::optional(given_.size() + listed_count_) : std::nullopt;
}

void OperandSource::read_list() {
  std::array<char, 16384> block;
  const ssize_t got = detail::uninterrupted([&] { return read(STDIN_FILENO, block.data(), block.size()); });
  if (got < 0) {
    throw ReadError(detail::system_problem(errno, "standard input"));
  }
  const auto end_item = [this] {
    if (unfinished_ > 0) {
      ahead_.push_back(separator_);
      ++waiting_;
      ++listed_count_;
    }
    unfinished_ = 0;
  };
  if (got == 0) {
    ended_ = true;
    end_item();
    return;
  }
  refuse_if(unfinished_ > limits::json_bytes,
            "standard input: a line is longer than the limit (json_bytes): this is no list");
  for (const char byte : std::string_view(block.data(), static_cast<std::size_t>(got))) {
    if (byte == separator_) {
      end_item();
    } else {
      ahead_.push_back(byte);
      ++unfinished_;
    }
  }
}

std::vector<std::string> found_trials(const std::string& place, const ReadingOptions& reading, Diagnostics& messages,
                                      std::string* awaited) {
  constexpr std::size_t shown = 3;
  std::vector<std::string> paths;
  try {
    std::vector<Problem> problems;
    TrialOptions options = reading.trial_options();
    say_remote(options.remote, messages);
    paths = find_trials(place, &problems, options);
    std::map<std::pair<ProblemKind, std::string>, std::size_t> counts;
    for (const Problem& problem : problems) {
      if (++counts[{problem.kind, problem.text}] <= shown) {
        messages.report(problem, {});
      }
    }
    for (const auto& [key, count] : counts) {
      if (count > shown) {
        messages.report({key.first, place, {}, std::to_string(count - shown) + " more below it: " + key.second}, {});
      }
    }
    if (paths.empty() && awaited != nullptr) {
      *awaited = awaited->empty() ? place : *awaited;
      messages.note_once(place + ": has no trial yet; waiting for one");
    } else if (paths.empty()) {
      messages.note(place + ": there is no trial at or below it");
    }
  } catch (const Error& error) {
    if (awaited != nullptr && error.tag() == "NotFound" && may_come(place)) {
      *awaited = awaited->empty() ? place : *awaited;
      messages.note_once(place + ": does not exist yet; waiting for it" + meant_instead(place, {}));
    } else {
      fail_to_open(error, place, messages);
    }
  }
  return paths;
}

std::size_t visit_in_turn(OperandSource& operands, const VisitPlan& plan, Diagnostics& messages,
                          const std::function<Show(const Visit&)>& visit) {
  const std::string* const first = operands.peek(plan.interruption);
  if (first == nullptr) {
    return 0;
  }
  unsigned jobs = plan.jobs != 0 ? plan.jobs : usable_cpus();
  if (is_remote_path(*first)) {
    jobs = plan.jobs != 0 ? std::min(plan.jobs, remote_visits) : remote_visits;
  }
  const std::size_t most = operands.total().value_or(jobs);
  const auto threads = plan.one_at_a_time ? 1 : static_cast<unsigned>(std::min<std::size_t>(jobs, most));
  return Visits(operands, plan, messages, visit, threads, jobs).run();
}

}  // namespace smd::tool
