// SPDX-License-Identifier: Apache-2.0
#include "following_options.hpp"

#include "text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

namespace smd::tool {

namespace {

constexpr OptionSpec follow_option = {.short_name = 'F',
                                      .name = "follow",
                                      .help = "print rows as steps complete, until the job ends",
                                      .group = group::reading};
constexpr OptionSpec timeout_option = {.name = "timeout",
                                       .metavar = "D",
                                       .help = "give up (status 124) after D: 30, 1.5s, 5m, 2h",
                                       .group = group::reading,
                                       .kind = ValueKind::duration};
constexpr OptionSpec idle_option = {.name = "idle",
                                    .metavar = "D",
                                    .help = "give up (status 124) after D without a new step",
                                    .group = group::reading,
                                    .kind = ValueKind::duration};
constexpr OptionSpec interval_option = {
    .name = "interval",
    .metavar = "D",
    .help = "look at least this often (default: 2s, 5s on S3; local changes are noticed at once where inotify works)",
    .group = group::reading,
    .kind = ValueKind::duration};

constexpr std::array<OptionSpec, 4> following_table = {{follow_option, timeout_option, idle_option, interval_option}};
constexpr std::array<OptionSpec, 2> waiting_options = {{timeout_option, interval_option}};

}  // namespace

std::chrono::nanoseconds parse_duration(std::string_view text) {
  constexpr double most = 1e8;  // three years
  const char* const last = text.data() + text.size();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), last, number, std::chars_format::fixed);
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc{} || factor == 0 || !(number >= 0)) {
    throw InvalidValue(quoted(text) + " is not a duration: 30, 1.5s, 5m or 2h");
  }
  if (!(number * factor <= most)) {
    throw InvalidValue(quoted(text) + " is longer than 100000000s");
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(number * factor));
}

std::span<const OptionSpec> FollowingOptions::table() noexcept { return following_table; }
std::span<const OptionSpec> FollowingOptions::waiting_table() noexcept { return waiting_options; }

FollowingOptions FollowingOptions::from(const CommandLine& line) {
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
  wait.interval = interval;
  wait.stop = std::move(stop);
  return wait;
}

}  // namespace smd::tool
