// SPDX-License-Identifier: Apache-2.0
#include "requests/other_trials.hpp"

#include "cli/output_file.hpp"
#include "cli/text.hpp"
#include "select/select.hpp"

namespace smd::tool {

namespace {

/// The bucket of `s3://bucket/prefix`. @pre The place is a remote one.
std::string_view bucket_of(std::string_view place) {
  place.remove_prefix(place.find("//") + 2);
  return place.substr(0, place.find('/'));
}

}  // namespace

void OtherTrials::allow(std::string_view place) {
  if (is_remote_path(place)) {
    const std::lock_guard lock(mutex_);
    buckets_.emplace(bucket_of(place));
  }
}

Trial* OtherTrials::open(const std::string& path, std::string& why) {
  const std::lock_guard lock(mutex_);
  if (is_remote_path(path) && !buckets_.contains(bucket_of(path))) {
    why = "the other trial " + single_quoted(path) + " lies in a bucket that the command line does not name; --other " +
          path + " allows it";
    if (refused_.insert(path).second) {
      messages_.fail("Usage", why, ExitStatus::usage);
    }
    return nullptr;
  }
  const auto [known, is_new] = by_path_.try_emplace(path);
  Other& other = known->second;
  if (is_new) {
    const AboutTrial about(path);  // not about the first trial that is compared with it
    try {
      TrialOptions options = reading_.trial_options();
      options.name = path;
      say_remote(options.remote, messages_);
      std::optional<Trial> trial =
          followed_ != nullptr ? followed_->open(path, options) : std::optional(Trial::open(path, options));
      if (!trial) {
        why = other.why = "the other trial has not appeared: " + path;
        return nullptr;
      }
      other.trial = &trials_.emplace_back(std::move(*trial));
      add_input(other.trial->path());
      for (const Problem& problem : other.trial->problems()) {
        messages_.report(problem, other.trial->path());
      }
      SelectionOptions everything;
      everything.all_workers = true;
      note_superseded(*other.trial, everything, {}, {}, messages_, path + ": ");
    } catch (const Error& error) {
      messages_.fail(error, path);
      messages_.raise(ExitStatus::unreadable);
      other.why = "the other trial cannot be read: " + std::string(error.what());
    }
  }
  why = other.why;
  return other.trial;
}

}  // namespace smd::tool
