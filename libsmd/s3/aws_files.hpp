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

/// What the AWS config and credentials files hold (docs.aws.amazon.com, "Configuration and credential file settings").
/// A file that is missing holds nothing; so does one that cannot be read, which `unread` tells.
class AwsFiles {
 public:
  AwsFiles() = default;
  AwsFiles(std::string_view config, std::string_view credentials);
  /// Reads them from where the environment says, or `~/.aws`.
  static AwsFiles load();

  /// Both files' settings of a profile, those of the credentials file first; nothing if neither has it.
  [[nodiscard]] std::optional<Profile> profile(std::string_view name) const;

  /// Files that are there and were not read, and why, to stand behind a message; empty: none.
  [[nodiscard]] std::string unread() const;
  /// Those of them that are too long: nothing but a message tells that they are not used.
  [[nodiscard]] const std::vector<std::string>& too_long() const noexcept { return too_long_; }

 private:
  [[nodiscard]] std::string content_of(const std::optional<std::string>& path);

  std::vector<std::string> too_long_;
  std::vector<std::string> unreadable_;
  std::map<std::string, Profile, std::less<>> profiles_;
};

/// A variable's value; nothing if it is unset or empty.
[[nodiscard]] std::optional<std::string> environment(const char* name);
/// A problem, without a file: not_found, access_denied, damaged (longer than 1 MiB), or io.
[[nodiscard]] Outcome<std::string> read_small_file(const std::string& path);

}  // namespace smd::detail::storage::s3
