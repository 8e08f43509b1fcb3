// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/trial.hpp>

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "cli/diagnostics.hpp"
#include "follow/followed_trials.hpp"
#include "operands/reading_options.hpp"

namespace smd::tool {

/// The trials that rules compare with, each opened once. A configuration may be a stranger's, so it must not choose a
/// bucket that requests are signed for: only buckets that the command line names are accessed. `allow` and `open` may
/// be called from several threads.
class OtherTrials {
 public:
  OtherTrials(const ReadingOptions& reading, Diagnostics& messages) : reading_(reading), messages_(messages) {}

  /// Trials that are opened from now on are followed, as `trials` are, which outlive their use: they may grow, and
  /// `open` waits for one that is not there yet.
  void follow_with(FollowedTrials& trials) { followed_ = &trials; }
  /// Whether a signal has ended the following.
  [[nodiscard]] bool interrupted() const noexcept { return followed_ != nullptr && followed_->interrupted(); }
  /// The user named this place: trials in its bucket may be opened.
  void allow(std::string_view place);
  /// Null if it cannot or must not be opened, which is reported once, with its status; `why` is then the reason.
  Trial* open(const std::string& path, std::string& why);
  /// The trials that could be opened.
  [[nodiscard]] std::deque<Trial>& all() noexcept { return trials_; }

 private:
  struct Other {
    Trial* trial = nullptr;
    std::string why;
  };
  const ReadingOptions& reading_;
  Diagnostics& messages_;
  FollowedTrials* followed_ = nullptr;
  std::mutex mutex_;  // guards all below; held while a trial is opened, so that the others wait for it
  std::set<std::string, std::less<>> buckets_;
  std::set<std::string> refused_;
  std::deque<Trial> trials_;
  std::map<std::string, Other> by_path_;
};

}  // namespace smd::tool
