// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/follow.hpp>
#include <smd/trial.hpp>

#include <deque>
#include <optional>

#include "cli/diagnostics.hpp"

namespace smd::tool::rule {

/// For --follow: up to which step the records of the trials that rules compare with exist. An index file can come
/// before its event file: while that may still come, no step from there on is evaluated. Used by one thread.
class OtherRecords {
 public:
  /// The trials must outlive this.
  OtherRecords(std::deque<Trial>& trials, const WaitOptions& wait, Diagnostics& messages);

  /// The last step up to which rules can read the trials; nullopt: no bound. Looks for what is new, and reports which
  /// event files were waited for and did not come. @throws ReadError.
  [[nodiscard]] std::optional<GlobalStep> last_readable();

 private:
  struct Other {
    Trial* trial;
    StepFollower follower;
    std::optional<GlobalStep> given;  // the largest step whose records are there, or were given up
  };

  std::deque<Other> others_;
  Diagnostics& messages_;
};

}  // namespace smd::tool::rule
