// SPDX-License-Identifier: Apache-2.0
#include "follow/following_options.hpp"

#include "cli/interruption.hpp"
#include "cli/number_format.hpp"
#include "cli/text.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <memory>
#include <string>
#include <utility>

namespace smd::tool {

namespace {

constexpr OptionSpec follow_option = {.short_name = 'F',
                                      .name = "follow",
                                      .help = "go on as steps complete, until the job ends",
                                      .group = group::reading,
                                      .manual =
                                          "Go on as steps complete, until the job ends. If a trial does not exist yet, "
                                          "wait for it; a message says so."};
constexpr OptionSpec timeout_option = {.name = "timeout",
                                       .metavar = "D",
                                       .help = "give up (status 124) after D: 30, 1.5s, 5m, 2h",
                                       .group = group::reading,
                                       .kind = ArgumentKind::duration};
constexpr OptionSpec idle_option = {.name = "idle",
                                    .metavar = "D",
                                    .help = "give up (status 124) after D without a new step",
                                    .group = group::reading,
                                    .kind = ArgumentKind::duration};
constexpr OptionSpec interval_option = {
    .name = "interval",
    .metavar = "D",
    .help = "look at least this often (default: 2s, 5s on S3; local changes are noticed at once where inotify works)",
    .group = group::reading,
    .kind = ArgumentKind::duration};

constexpr std::array<OptionSpec, 4> following_table = {{follow_option, timeout_option, idle_option, interval_option}};
constexpr std::array<OptionSpec, 3> waiting_options = {{timeout_option, idle_option, interval_option}};

}  // namespace

std::chrono::nanoseconds parse_duration(std::string_view text) {
  constexpr double most = 1e8;  // three years
  const char* const last = text.data() + text.size();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc{} || factor == 0 || !(number >= 0)) {
    throw InvalidValue(single_quoted(text) + " is not a duration: 30, 1.5s, 5m or 2h");
  }
  if (!(number * factor <= most)) {
    throw InvalidValue(single_quoted(text) + " is longer than 100000000s");
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(number * factor));
}

std::string duration_text(std::chrono::nanoseconds duration) {
  using std::chrono::hours;
  using std::chrono::minutes;
  if (duration.count() > 0 && duration % hours(1) == duration.zero()) {
    return std::to_string(duration / hours(1)) + "h";
  }
  if (duration.count() > 0 && duration % minutes(1) == duration.zero()) {
    return std::to_string(duration / minutes(1)) + "m";
  }
  std::array<char, number_chars> seconds;
  char* const end = write_number(seconds.data(), std::chrono::duration<double>(duration).count());
  return std::string(seconds.data(), end) + "s";
}

std::span<const OptionSpec> FollowingOptions::table() noexcept { return following_table; }
std::span<const OptionSpec> FollowingOptions::waiting_table() noexcept { return waiting_options; }

FollowingOptions FollowingOptions::from(const CommandLine& line) {
  for (const std::string_view name : {"sort", "limit"}) {
    if (line.has("follow") && line.has(name)) {
      throw UsageError("--" + std::string(name) +
                       " and --follow: rows are printed as they come; leave out one of the two");
    }
  }
  return from_redrawn(line);
}

FollowingOptions FollowingOptions::from_redrawn(const CommandLine& line) {
  FollowingOptions options;
  options.follow = line.has("follow");
  if (line.definition().find("follow") != nullptr && !options.follow) {
    for (const std::string_view name : {"timeout", "idle", "interval"}) {
      if (line.has(name)) {
        throw UsageError("--" + std::string(name) + " needs --follow: without it nothing is waited for");
      }
    }
  }
  options.timeout = line.convert("timeout", parse_duration);
  options.idle = line.convert("idle", parse_duration);
  const auto interval = line.convert("interval", parse_duration);
  if (interval) {
    options.interval =
        std::max(std::chrono::duration_cast<std::chrono::milliseconds>(*interval), std::chrono::milliseconds(1));
  }
  return options;
}

WaitOptions FollowingOptions::wait_options(std::stop_token stop) const {
  WaitOptions wait;
  if (timeout) {
    wait.deadline = std::chrono::steady_clock::now() + *timeout;
  }
  wait.idle = idle;
  wait.interval = interval;
  wait.stop = std::move(stop);
  return wait;
}

namespace {

/// How long a store has not answered. Thread-safe.
class Silence {
 public:
  using Clock = std::chrono::steady_clock;

  void answered() noexcept { since_ = now(); }
  /// Called every 50 ms while something is asked of the store. Once true it stays so.
  [[nodiscard]] bool lasts(std::chrono::nanoseconds most) noexcept {
    constexpr std::chrono::nanoseconds pause = std::chrono::milliseconds(500);
    const Clock::rep time = now();
    if (Clock::duration(time - asked_.exchange(time)) > pause) {
      since_ = time;  // nothing was asked for a while
    }
    over_ = over_ || Clock::duration(time - since_) >= most;
    return over_;
  }

 private:
  static Clock::rep now() noexcept { return Clock::now().time_since_epoch().count(); }

  std::atomic<Clock::rep> asked_ = now();
  std::atomic<Clock::rep> since_ = now();
  std::atomic<bool> over_ = false;
};

}  // namespace

std::function<bool()> FollowingOptions::request_stop(const WaitOptions& wait) const {
  const bool asks_once = timeout && timeout->count() == 0;
  const auto deadline = asks_once ? std::nullopt : wait.deadline;
  return [stop = wait.stop, deadline] {
    return interrupted() || stop.stop_requested() || (deadline && std::chrono::steady_clock::now() >= *deadline);
  };
}

void FollowingOptions::end_requests(TrialOptions& options, const std::string& path, const WaitOptions& wait) const {
  RemoteOptions& remote = options.remote;
  remote.stop = request_stop(wait);
  if (is_remote_path(path) && wait.idle && wait.idle->count() > 0) {
    const auto silence = std::make_shared<Silence>();
    remote.answered = [silence] { silence->answered(); };
    remote.stop = [over = std::move(remote.stop), silence, most = *wait.idle] {
      return over() || silence->lasts(most);
    };
  }
}

}  // namespace smd::tool
