// SPDX-License-Identifier: Apache-2.0
#include "other_trials.hpp"

namespace smd::tool::rule {

Trial* OtherTrials::open(const std::string& path, std::string& why) {
  const auto [known, is_new] = by_path_.try_emplace(path);
  Other& other = known->second;
  if (is_new) {
    try {
      TrialOptions options = reading_.trial_options();
      say_remote(options, messages_);
      other.trial = &trials_.emplace_back(Trial::open(path, options));
      for (const Problem& problem : other.trial->problems()) {
        messages_.report(problem, other.trial->path());
      }
    } catch (const Error& error) {
      messages_.fail(error, path);
      messages_.raise(ExitStatus::unreadable);
      other.why = "the other trial cannot be read: " + std::string(error.what());
    }
  }
  why = other.why;
  return other.trial;
}

void OtherTrials::refresh() {
  for (Trial& trial : trials_) {
    trial.refresh();
  }
}

}  // namespace smd::tool::rule
