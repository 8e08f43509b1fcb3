// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "types/outcome.hpp"

namespace smd::detail::storage::s3 {

/// Settings of one profile.
using Profile = std::map<std::string, std::string, std::less<>>;

/// Returns a setting's value, or an empty string if the profile does not have it.
[[nodiscard]] std::string setting(const Profile& profile, std::string_view name);

/// The contents of the AWS config and credentials files (docs.aws.amazon.com, "Configuration and credential file
/// settings"). A missing file has no settings; neither has one that cannot be read, which `unread` reports.
class AwsFiles {
 public:
  /// Reads the files that the environment names, or those in `~/.aws`.
  static AwsFiles load();

  /// Returns a profile's settings from both files, the credentials file first; nullopt if neither has the profile.
  [[nodiscard]] std::optional<Profile> profile(std::string_view name) const;

  /// Returns the files that exist but were not read, with reasons, to append to a message; empty if there are none.
  [[nodiscard]] std::string unread() const;
  /// Returns the files that were not read because they are too long: only a message reports that they are not used.
  [[nodiscard]] const std::vector<std::string>& too_long() const noexcept { return too_long_; }

 private:
  [[nodiscard]] std::string content_of(const std::optional<std::string>& path);

  std::vector<std::string> too_long_;
  std::vector<std::string> unreadable_;
  std::map<std::string, Profile, std::less<>> profiles_;
};

/// Returns the content, or a problem without a file: not_found, access_denied, damaged (longer than 1 MiB), or io.
[[nodiscard]] Outcome<std::string> read_small_file(const std::string& path);

}  // namespace smd::detail::storage::s3
