// SPDX-License-Identifier: Apache-2.0
#include "follow/awaited_trial.hpp"

#include "cli/interruption.hpp"
#include "cli/operands.hpp"

#include <boost/filesystem/operations.hpp>
#include <chrono>

namespace smd::tool {

namespace {

/// Whether nothing exists at the path yet, and a trial may appear there.
bool may_come(const std::string& path) {
  boost::system::error_code error;
  return is_remote_path(path) ||
         (!boost::filesystem::exists(path, error) && error != boost::system::errc::filename_too_long);
}

/// Nullopt if the trial does not exist yet; `missing` then says what is missing, and is empty if nothing will come.
std::optional<Trial> open_now(const std::string& path, const TrialOptions& options, std::string_view hint,
                              std::string& missing) {
  try {
    return Trial::open(path, options);
  } catch (const MissingCollectionFiles& error) {
    missing = error.ended ? "" : "has no data yet, waiting for it";
  } catch (const ReadError& error) {
    if (error.problem.kind != ProblemKind::not_found || !may_come(path)) {
      throw;
    }
    missing = "does not exist yet; waiting for it" + meant_instead(path, hint);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Trial> open_awaited(const std::string& path, TrialOptions options, const FollowingOptions& following,
                                  const WaitOptions& wait, Diagnostics& messages, Level announced,
                                  std::string_view hint) {
  options.as_it_stands = false;
  const bool asks_once = following.timeout && following.timeout->count() == 0;
  std::string missing;
  if (!asks_once) {
    try {
      if (std::optional<Trial> trial = open_now(path, options, hint, missing)) {
        return trial;
      }
    } catch (const ReadError& error) {
      if (error.problem.kind != ProblemKind::stopped) {
        throw;
      }
      if (wait.stop.stop_requested() || interrupted()) {
        return std::nullopt;
      }
      const bool late = wait.deadline && std::chrono::steady_clock::now() >= *wait.deadline;
      const auto limit = late || !following.idle ? following.timeout : following.idle;
      messages.fail("Timeout",
                    path + ": no trial appeared within " + duration_text(limit.value_or(std::chrono::seconds(0))) +
                        (is_remote_path(path) ? "; the server had not answered" : "; it was still being read"),
                    ExitStatus::timed_out);
      return std::nullopt;
    }
    if (const std::string text = path + ": " + missing; !missing.empty()) {
      announced == Level::info ? messages.info(text) : messages.note(text);
    }
  }
  WaitOutcome outcome = WaitOutcome::timed_out;
  try {
    if (std::optional<Trial> trial = Trial::open_when_there(path, options, wait, &outcome)) {
      return trial;
    }
  } catch (const ReadError& error) {  // an earlier trial used up the time
    if (asks_once || error.problem.kind != ProblemKind::not_found || !may_come(path)) {
      throw;
    }
  }
  if (asks_once) {
    messages.fail("Timeout", path + ": there is no trial yet", ExitStatus::timed_out);
  } else if (outcome != WaitOutcome::stopped) {
    const auto limit = outcome == WaitOutcome::idle ? following.idle : following.timeout;
    messages.fail("Timeout", path + ": no trial appeared within " + duration_text(*limit), ExitStatus::timed_out);
  }
  return std::nullopt;
}

}  // namespace smd::tool
