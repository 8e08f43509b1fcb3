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

/// Credentials and their source.
struct FoundCredentials {
  Credentials credentials;
  std::string where;  ///< For messages: `the environment`.
};
/// nullopt: the source is not configured. A problem: it is configured, but fails. Problems never contain a secret.
using Finding = Outcome<std::optional<FoundCredentials>>;

/// Returns the problem that credentials are unavailable, and why.
[[nodiscard]] inline Problem no_credentials(std::string text) {
  return make_problem(ProblemKind::access_denied, std::move(text));
}

/// Returns the argument, or a problem if the credentials contain a control character, because a header cannot contain
/// one.
[[nodiscard]] Finding checked(Finding found);

/// Input of the sources.
struct CredentialContext {
  HttpPool& http;
  const Settings& settings;
  const Stop* stop = nullptr;  ///< Ends requests to a server and commands; then there are no credentials.
};

[[nodiscard]] Finding credentials_from_environment(const CredentialContext& context);
/// From AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN: Kubernetes pods have them.
[[nodiscard]] Finding credentials_from_web_identity(const CredentialContext& context);
[[nodiscard]] Finding credentials_from_profile(const CredentialContext& context);
/// Returns whether the profile has a role and the source of its credentials: then it takes precedence over a web
/// identity.
[[nodiscard]] bool takes_role_from_source(const Settings& settings);
[[nodiscard]] Finding credentials_from_container(const CredentialContext& context);
[[nodiscard]] Finding credentials_from_metadata(const CredentialContext& context);
/// Runs a command as the AWS CLI does: splits it as a shell would, but without a shell.
[[nodiscard]] Outcome<Credentials> credentials_from_process(const std::string& command, const Stop* stop);

/// The credentials in use. Thread-safe: while one thread obtains them, the others wait.
class CredentialChain {
 public:
  explicit CredentialChain(CredentialContext context) : context_(context) {}

  /// Returns the credentials in use; obtains them at the first call, and again five minutes before they expire.
  Outcome<std::shared_ptr<const FoundCredentials>> get(const Stop* stop = nullptr);
  /// Returns the credentials in use, or null if none were obtained yet. Sends no request.
  [[nodiscard]] std::shared_ptr<const FoundCredentials> current();
  /// Returns credentials other than `refused`, which the server rejected; null if there are none.
  Outcome<std::shared_ptr<const FoundCredentials>> other_than(const FoundCredentials& refused,
                                                              const Stop* stop = nullptr);

 private:
  Outcome<std::shared_ptr<const FoundCredentials>> find(const Stop* stop);

  CredentialContext context_;
  std::mutex mutex_;
  std::shared_ptr<const FoundCredentials> current_;
  std::chrono::system_clock::time_point next_try_{};  ///< Set after a renewal failed.
};

}  // namespace smd::detail::storage::s3
