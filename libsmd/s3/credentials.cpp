// SPDX-License-Identifier: Apache-2.0
// Where credentials come from: the environment, an ECS or EKS container, an EC2 instance; and those in use.

#include "s3/credentials.hpp"
#include "s3/reply.hpp"
#include "s3/scrub.hpp"
#include "text/environment.hpp"
#include "text/escape.hpp"
#include "text/path.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::chrono::minutes renew_before{5};
constexpr std::chrono::seconds renew_again{30};

constexpr std::uint64_t most_answer = std::uint64_t{64} << 10;

HttpResponse ask(const CredentialContext& context, const std::string& method, const std::string& url,
                 std::vector<HttpHeader> headers) {
  return context.http.perform({.method = method,
                               .url = url,
                               .headers = std::move(headers),
                               .most = most_answer,
                               .via_proxy = false,
                               .connect_timeout = context.settings.patience.metadata,
                               .total_timeout = context.settings.patience.metadata,
                               .stop = context.stop});
}

bool good(const HttpResponse& response) noexcept { return response.trouble == Trouble::none && response.status == 200; }

std::string why(const HttpResponse& response) {
  return response.trouble != Trouble::none ? printable(response.text) : "status " + std::to_string(response.status);
}

Finding credentials_in(const std::string& body, std::string where) {
  auto credentials = credentials_from_json(body, "Token");
  if (!credentials) {
    return no_credentials(where + " answers what are no credentials");
  }
  return std::optional(FoundCredentials{std::move(*credentials), std::move(where)});
}

/// Returns whether a token may be sent to this endpoint: over http only within this machine or to these hosts.
bool may_have_token(const Endpoint& endpoint) {
  const std::string_view host(endpoint.host);
  const auto is = [&](std::string_view name) {
    return host == name || (host.starts_with(name) && host.substr(name.size()).starts_with(":"));
  };
  return endpoint.tls || is("169.254.170.2") || is("169.254.170.23") || is("[fd00:ec2::23]") || is("localhost") ||
         is("[::1]") || (host.starts_with("127.") && host.find_first_not_of("0123456789.:") == host.npos);
}

}  // namespace

Finding credentials_from_environment(const CredentialContext& /*context*/) {
  const auto key_id = text::environment("AWS_ACCESS_KEY_ID");
  const auto secret = text::environment("AWS_SECRET_ACCESS_KEY");
  if (!key_id && !secret) {
    return std::optional<FoundCredentials>();
  }
  if (!key_id || !secret) {
    return no_credentials(std::string("of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only ") +
                          (key_id ? "the first" : "the second") + " is set in the environment");
  }
  return std::optional(FoundCredentials{
      {*key_id, *secret, text::environment("AWS_SESSION_TOKEN").value_or(std::string())}, "the environment"});
}

Finding credentials_from_container(const CredentialContext& context) {
  const auto relative = text::environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
  const auto url =
      relative ? "http://169.254.170.2" + *relative : text::environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
  if (!url) {
    return std::optional<FoundCredentials>();
  }
  if (has_control(*url)) {
    return no_credentials("the address of the container's credentials, " + in_quotes(*url) +
                          ", holds a control character");
  }
  const auto endpoint = parse_endpoint(url->substr(0, url->find_first_of("?#")));
  if (!endpoint || !may_have_token(*endpoint)) {
    return no_credentials(
        "AWS_CONTAINER_CREDENTIALS_FULL_URI names a host that is neither https nor this machine's own");
  }
  std::vector<HttpHeader> headers;
  auto token = text::environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const auto file = text::environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
    auto content = read_small_file(*file);
    if (!content) {
      return no_credentials("cannot read AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE " + in_quotes(*file) + ": " +
                            content.problem().text);
    }
    token = std::move(*content);
    token->erase(token->find_last_not_of("\r\n") + 1);
  }
  if (token) {
    if (has_control(*token)) {
      return no_credentials("the container's authorization token holds a line break or another control character");
    }
    headers.push_back({"authorization", *token});
  }
  const HttpResponse response = ask(context, "GET", *url, std::move(headers));
  if (!good(response)) {
    return no_credentials("the container's credentials endpoint gives none: " + why(response));
  }
  return credentials_in(response.body, "the container's credentials endpoint");
}

Finding credentials_from_metadata(const CredentialContext& context) {
  if (const auto off = text::environment("AWS_EC2_METADATA_DISABLED");
      off == "true" || off == "TRUE" || off == "True") {
    return std::optional<FoundCredentials>();
  }
  std::string base = text::environment("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254");
  base.resize(text::without_slashes(base).size());
  if (has_control(base)) {
    return no_credentials("AWS_EC2_METADATA_SERVICE_ENDPOINT " + in_quotes(base) + " holds a control character");
  }
  const HttpResponse token =
      ask(context, "PUT", base + "/latest/api/token", {{"x-aws-ec2-metadata-token-ttl-seconds", "21600"}});
  if (!good(token) || token.body.empty() || has_control(token.body)) {
    return std::optional<FoundCredentials>();  // not an EC2 instance
  }
  const std::vector<HttpHeader> headers{{"x-aws-ec2-metadata-token", token.body}};
  const std::string roles = base + "/latest/meta-data/iam/security-credentials/";
  const HttpResponse role = ask(context, "GET", roles, headers);
  if (!good(role)) {
    return std::optional<FoundCredentials>();  // an instance without a role
  }
  const std::string name = role.body.substr(0, role.body.find_first_of("\r\n"));
  const HttpResponse response = ask(context, "GET", roles + uri_encode(name, false), headers);
  if (!good(response)) {
    return no_credentials("instance metadata gives no credentials of the role " + in_quotes(without(name, token.body)) +
                          ": " + why(response));
  }
  return credentials_in(response.body, "instance metadata");
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
