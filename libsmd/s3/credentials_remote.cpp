// SPDX-License-Identifier: Apache-2.0
// Credentials from the environment where the program runs: an ECS or EKS container, an EC2 instance.
#include "s3/credentials.hpp"
#include "s3/reply.hpp"
#include "s3/scrub.hpp"
#include "text/escape.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::uint64_t most_answer = std::uint64_t{64} << 10;

HttpResponse ask(const CredentialContext& context, const std::string& method, const std::string& url,
                 std::vector<HttpHeader> headers) {
  HttpRequest request;
  request.method = method;
  request.url = url;
  request.headers = std::move(headers);
  request.most = most_answer;
  request.via_proxy = false;
  request.connect_timeout = context.settings.patience.metadata;
  request.total_timeout = context.settings.patience.metadata;
  request.stop = context.stop;
  return context.http.perform(request);
}

bool good(const HttpResponse& response) noexcept { return response.trouble == Trouble::none && response.status == 200; }

std::string why(const HttpResponse& response) {
  return response.trouble != Trouble::none ? printable(response.text) : "status " + std::to_string(response.status);
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

Finding credentials_from_container(const CredentialContext& context) {
  std::string url;
  if (const auto relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")) {
    url = "http://169.254.170.2" + *relative;
  } else if (const auto full = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI")) {
    url = *full;
  } else {
    return std::optional<FoundCredentials>();
  }
  if (has_control(url)) {
    return no_credentials("the address of the container's credentials, '" + printable(url) +
                          "', holds a control character");
  }
  const auto endpoint = parse_endpoint(url.substr(0, url.find_first_of("?#")));
  if (!endpoint || !may_have_token(*endpoint)) {
    return no_credentials(
        "AWS_CONTAINER_CREDENTIALS_FULL_URI names a host that is neither https nor this machine's own");
  }
  std::vector<HttpHeader> headers;
  auto token = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
  if (const auto file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")) {
    auto content = read_small_file(*file);
    if (!content) {
      return no_credentials("cannot read AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE '" + printable(*file) +
                            "': " + content.problem().text);
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
  const HttpResponse response = ask(context, "GET", url, std::move(headers));
  if (!good(response)) {
    return no_credentials("the container's credentials endpoint gives none: " + why(response));
  }
  auto credentials = credentials_from_json(response.body, "Token");
  if (!credentials) {
    return no_credentials("the container's credentials endpoint answers what are no credentials");
  }
  return std::optional(FoundCredentials{std::move(*credentials), "the container's credentials endpoint"});
}

Finding credentials_from_metadata(const CredentialContext& context) {
  if (const auto off = environment("AWS_EC2_METADATA_DISABLED"); off == "true" || off == "TRUE" || off == "True") {
    return std::optional<FoundCredentials>();
  }
  std::string base = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("http://169.254.169.254");
  while (base.ends_with('/')) {
    base.pop_back();
  }
  if (has_control(base)) {
    return no_credentials("AWS_EC2_METADATA_SERVICE_ENDPOINT '" + printable(base) + "' holds a control character");
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
    return no_credentials("instance metadata gives no credentials of the role '" +
                          printable(without(name, token.body)) + "': " + why(response));
  }
  auto credentials = credentials_from_json(response.body, "Token");
  if (!credentials) {
    return no_credentials("instance metadata answers what are no credentials");
  }
  return std::optional(FoundCredentials{std::move(*credentials), "instance metadata"});
}

}  // namespace smd::detail::storage::s3
