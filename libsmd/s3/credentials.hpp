// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "s3/http.hpp"
#include "s3/settings.hpp"
#include "s3/signing.hpp"
#include "types/outcome.hpp"

namespace smd::detail::storage::s3 {

/// Where credentials were found; nothing: not configured there.
struct FoundCredentials {
  Credentials credentials;
  std::string where;  ///< For messages: `the environment`.
};
/// A problem: configured there, but they cannot be had. No problem ever holds a secret.
using Finding = Outcome<std::optional<FoundCredentials>>;

/// Credentials that cannot be had, and why.
[[nodiscard]] inline Problem no_credentials(std::string text) {
  return {ProblemKind::access_denied, {}, {}, std::move(text)};
}

/// The same, unless they hold a control character: then they cannot be sent in a header, and it is a problem.
[[nodiscard]] Finding checked(Finding found);

/// What the sources need.
struct CredentialContext {
  HttpPool& http;
  const Settings& settings;
  const Stop* stop = nullptr;  ///< Ends what is asked of a server or a command; then there are no credentials.
};

[[nodiscard]] Finding credentials_from_environment();
/// AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN.
[[nodiscard]] Finding credentials_from_web_identity(const CredentialContext& context);
[[nodiscard]] Finding credentials_from_profile(const CredentialContext& context);
/// Whether the profile asks for a role with credentials that it names: then it comes before a web identity.
[[nodiscard]] bool takes_role_from_source(const Settings& settings);
[[nodiscard]] Finding credentials_from_container(const CredentialContext& context);
[[nodiscard]] Finding credentials_from_metadata(const CredentialContext& context);
/// Runs a command as the AWS CLI does: split as a shell would, no shell.
[[nodiscard]] Finding credentials_from_process(const std::string& command, const Stop* stop = nullptr);
/// STS AssumeRole, signed with `base`.
[[nodiscard]] Finding assume_role(const CredentialContext& context, const Profile& profile, const Credentials& base);
/// A role, and the token of an identity provider by which it is had: what a pod of Kubernetes is given.
struct WebIdentity {
  std::string role;
  std::string session;  ///< May be empty.
  std::string token_file;
  std::string named_by;  ///< For messages: what named the file.
};
/// STS AssumeRoleWithWebIdentity.
[[nodiscard]] Finding assume_role_with_web_identity(const CredentialContext& context, const WebIdentity& identity);

/// Reads AccessKeyId, SecretAccessKey, `token_name` and Expiration from a JSON object.
[[nodiscard]] std::optional<Credentials> credentials_from_json(std::string_view text, const char* token_name);
/// `2024-02-29T12:00:00Z`, with fractions and offsets.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_time(std::string_view text);

/// The credentials in use. Thread-safe: while one thread fetches them, the others wait.
class CredentialChain {
 public:
  explicit CredentialChain(CredentialContext context) : context_(context) {}

  /// Those in use; fetched at first, and anew five minutes before they expire.
  Outcome<std::shared_ptr<const FoundCredentials>> get(const Stop* stop = nullptr);
  /// Those in use, or null before they were asked for. Asks nobody.
  [[nodiscard]] std::shared_ptr<const FoundCredentials> current();
  /// Others than `refused`, which the server did not take; null if there are no others.
  Outcome<std::shared_ptr<const FoundCredentials>> other_than(const FoundCredentials& refused,
                                                              const Stop* stop = nullptr);

 private:
  Outcome<std::shared_ptr<const FoundCredentials>> find(const Stop* stop);

  CredentialContext context_;
  std::mutex mutex_;
  std::shared_ptr<const FoundCredentials> current_;
  std::chrono::system_clock::time_point next_try_{};  ///< After a renewal that failed.
};

}  // namespace smd::detail::storage::s3
