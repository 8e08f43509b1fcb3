// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace smd::detail::storage::s3 {

/// Settings of one profile.
using Profile = std::map<std::string, std::string, std::less<>>;

/// What the AWS config and credentials files hold (docs.aws.amazon.com, "Configuration and credential file settings").
/// A file that is missing or cannot be read holds nothing.
class AwsFiles {
 public:
  AwsFiles() = default;
  AwsFiles(std::string_view config, std::string_view credentials);
  /// Reads them from where the environment says, or `~/.aws`.
  static AwsFiles load();

  /// Both files' settings of a profile, those of the credentials file first; nothing if neither has it.
  [[nodiscard]] std::optional<Profile> profile(std::string_view name) const;

 private:
  std::map<std::string, Profile, std::less<>> profiles_;
};

/// A variable's value; nothing if it is unset or empty.
[[nodiscard]] std::optional<std::string> environment(const char* name);
/// Nothing if it cannot be read or is longer than 1 MiB.
[[nodiscard]] std::optional<std::string> read_small_file(const std::string& path);

}  // namespace smd::detail::storage::s3
