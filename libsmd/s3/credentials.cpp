// SPDX-License-Identifier: Apache-2.0
#include "s3/credentials.hpp"

#include <utility>

namespace smd::detail::storage::s3 {
namespace {

constexpr std::chrono::minutes renew_before{5};
constexpr std::chrono::seconds renew_again{30};

}  // namespace

Finding credentials_from_environment(const CredentialContext& /*context*/) {
  const auto key_id = environment("AWS_ACCESS_KEY_ID");
  const auto secret = environment("AWS_SECRET_ACCESS_KEY");
  if (!key_id && !secret) {
    return std::optional<FoundCredentials>();
  }
  if (!key_id || !secret) {
    return no_credentials(std::string("of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only ") +
                          (key_id ? "the first" : "the second") + " is set in the environment");
  }
  return std::optional(FoundCredentials{{*key_id, *secret, environment("AWS_SESSION_TOKEN").value_or(std::string())},
                                        "the environment"});
}

Finding checked(Finding found) {
  if (!found || !*found) {
    return found;
  }
  const Credentials& credentials = (*found)->credentials;
  for (const auto& [value, what] : {std::pair(&credentials.key_id, "access key id"),
                                    {&credentials.secret, "secret access key"},
                                    {&credentials.token, "session token"}}) {
    if (has_control(*value)) {
      return no_credentials("the " + std::string(what) + " of " + (*found)->where +
                            " holds a line break or another control character; give it as it was issued");
    }
  }
  return found;
}

std::shared_ptr<const FoundCredentials> CredentialChain::current() {
  const std::lock_guard lock(mutex_);
  return current_;
}

Outcome<std::shared_ptr<const FoundCredentials>> CredentialChain::find(const Stop* stop) {
  const CredentialContext context{context_.http, context_.settings, stop};
  const bool keys = !context.settings.profile_by_option;
  const bool identity = keys && !takes_role_from_source(context.settings);
  for (const auto& [used, source] : {std::pair(keys, &credentials_from_environment),
                                     {identity, &credentials_from_web_identity},
                                     {true, &credentials_from_profile},
                                     {true, &credentials_from_container},
                                     {true, &credentials_from_metadata}}) {
    auto found = used ? checked(source(context)) : Finding(std::optional<FoundCredentials>());
    if (!found) {
      return std::move(found.problem());
    }
    if (*found) {
      return std::make_shared<const FoundCredentials>(std::move(**found));
    }
  }
  return no_credentials("no AWS credentials: none in the environment (AWS_ACCESS_KEY_ID), in the profile '" +
                        context.settings.profile_name +
                        "', from a container or from instance metadata; public buckets need --no-sign-request" +
                        context.settings.files.unread());
}

Outcome<std::shared_ptr<const FoundCredentials>> CredentialChain::get(const Stop* stop) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::system_clock::now();
  const bool due = current_ && current_->credentials.expires && now >= *current_->credentials.expires - renew_before;
  if (current_ && (!due || now < next_try_)) {
    return current_;
  }
  auto found = find(stop);
  if (!found) {
    // Credentials that are valid for some more minutes are used; renewal may work later.
    if (current_ && now < *current_->credentials.expires) {
      next_try_ = now + renew_again;
      return current_;
    }
    return found;
  }
  current_ = *found;
  next_try_ = now + renew_again;  // if a source returns credentials that are about to expire, it is not asked again
                                  // for each request
  return current_;
}

Outcome<std::shared_ptr<const FoundCredentials>> CredentialChain::other_than(const FoundCredentials& refused,
                                                                             const Stop* stop) {
  const auto same = [&refused](const FoundCredentials& other) {
    return other.credentials.key_id == refused.credentials.key_id &&
           other.credentials.secret == refused.credentials.secret &&
           other.credentials.token == refused.credentials.token;
  };
  const std::lock_guard lock(mutex_);
  if (current_ && !same(*current_)) {
    return current_;  // another thread has renewed them
  }
  auto found = find(stop);
  if (!found) {
    return found;
  }
  if (same(**found)) {
    return std::shared_ptr<const FoundCredentials>();
  }
  current_ = *found;
  return current_;
}

}  // namespace smd::detail::storage::s3
