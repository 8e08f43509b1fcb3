// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <pugixml.hpp>
#include <vector>

#include "base/escape.hpp"
#include "storage/s3/credentials.hpp"

namespace smd::detail::storage::s3 {
namespace {

std::string in_quotes(std::string_view name) { return "'" + printable(name) + "'"; }

std::string setting(const Profile& profile, std::string_view name) {
  const auto found = profile.find(name);
  return found == profile.end() ? std::string() : found->second;
}

/// Follows source_profile from profile to profile; `seen` ends a circle.
Finding from_profile(const CredentialContext& context, const std::string& name, std::vector<std::string>& seen);

Finding base_of_role(const CredentialContext& context, const std::string& name, const Profile& profile,
                     std::vector<std::string>& seen) {
  const std::string source = setting(profile, "source_profile");
  const std::string kind = setting(profile, "credential_source");
  if (!source.empty()) {
    return from_profile(context, source, seen);
  }
  if (kind == "Environment") {
    return credentials_from_environment();
  }
  if (kind == "EcsContainer") {
    return credentials_from_container(context);
  }
  if (kind == "Ec2InstanceMetadata") {
    return credentials_from_metadata(context);
  }
  return no_credentials("the profile " + in_quotes(name) +
                        " has a role_arn, but neither a source_profile nor a credential_source "
                        "that is known");
}

Finding from_role(const CredentialContext& context, const std::string& name, const Profile& profile,
                  std::vector<std::string>& seen) {
  if (!setting(profile, "mfa_serial").empty()) {
    return no_credentials("the profile " + in_quotes(name) +
                          " wants a one-time code (mfa_serial), which is not supported; get "
                          "temporary credentials with the AWS CLI and put them into the environment");
  }
  auto base = base_of_role(context, name, profile, seen);
  if (!base) {
    return base;
  }
  if (!*base) {
    return no_credentials("the profile " + in_quotes(name) +
                          " takes on a role, but there are no credentials to ask for it with");
  }
  return assume_role(context, profile, (*base)->credentials);
}

Finding from_profile(const CredentialContext& context, const std::string& name, std::vector<std::string>& seen) {
  const auto profile = context.settings.files.profile(name);
  if (!profile) {
    if (seen.empty() && !context.settings.profile_asked_for) {
      return std::optional<FoundCredentials>();
    }
    return no_credentials("there is no profile " + in_quotes(name) + " in the AWS config and credentials files");
  }
  const bool again = std::find(seen.begin(), seen.end(), name) != seen.end();
  seen.push_back(name);
  // A profile may name itself as the source of the keys that stand in it.
  const bool keys = !setting(*profile, "aws_access_key_id").empty();
  if (!setting(*profile, "role_arn").empty() && !(again && keys)) {
    if (again) {
      return no_credentials("the profiles' source_profile lead back to " + in_quotes(name));
    }
    if (!setting(*profile, "web_identity_token_file").empty()) {
      return no_credentials("the profile " + in_quotes(name) +
                            " takes on a role by a web identity, which is not supported");
    }
    return from_role(context, name, *profile, seen);
  }
  if (keys) {
    Credentials credentials{setting(*profile, "aws_access_key_id"), setting(*profile, "aws_secret_access_key"),
                            setting(*profile, "aws_session_token")};
    if (credentials.secret.empty()) {
      return no_credentials("the profile " + in_quotes(name) +
                            " has an aws_access_key_id, but no aws_secret_access_key");
    }
    return std::optional(FoundCredentials{std::move(credentials), "the profile " + in_quotes(name)});
  }
  if (const std::string command = setting(*profile, "credential_process"); !command.empty()) {
    auto found = credentials_from_process(command);
    if (!found) {
      Problem problem = std::move(found.problem());
      problem.text = "the credential_process of the profile " + in_quotes(name) + " " + problem.text;
      return problem;
    }
    (*found)->where = "the credential_process of the profile " + in_quotes(name);
    return found;
  }
  if (!setting(*profile, "sso_start_url").empty() || !setting(*profile, "sso_session").empty()) {
    return no_credentials("the profile " + in_quotes(name) +
                          " signs in with SSO, which is not supported; run 'aws configure "
                          "export-credentials --format env' and put what it prints into the environment");
  }
  if (context.settings.profile_by_option) {
    return no_credentials("the profile " + in_quotes(name) + " holds no credentials");
  }
  return std::optional<FoundCredentials>();
}

/// The text of the first element of that name, at any depth.
std::string element(const pugi::xml_document& document, const char* name) {
  const pugi::xml_node node =
      document.find_node([name](const pugi::xml_node& each) { return std::string_view(each.name()) == name; });
  return node.child_value();
}

}  // namespace

Finding credentials_from_profile(const CredentialContext& context) {
  std::vector<std::string> seen;
  return from_profile(context, context.settings.profile_name, seen);
}

Finding assume_role(const CredentialContext& context, const Profile& profile, const Credentials& base) {
  const std::string role = setting(profile, "role_arn");
  const auto endpoint = service_endpoint(context.settings, "sts", "AWS_ENDPOINT_URL_STS");
  if (!endpoint) {
    return endpoint.problem();
  }
  Query form{{"Action", "AssumeRole"}, {"Version", "2011-06-15"}, {"RoleArn", role}};
  std::string session = setting(profile, "role_session_name");
  form.emplace_back("RoleSessionName", session.empty() ? "libsmd" : session);
  for (const auto& [from, to] : {std::pair("external_id", "ExternalId"), {"duration_seconds", "DurationSeconds"}}) {
    if (const std::string value = setting(profile, from); !value.empty()) {
      form.emplace_back(to, value);
    }
  }
  Signable call{"POST", endpoint->host, endpoint->base + "/", {}, {}, canonical_query(form)};
  call.headers.push_back({"content-type", "application/x-www-form-urlencoded"});
  sign(call, base, context.settings.region, "sts", std::chrono::system_clock::now());
  HttpRequest request;
  request.method = "POST";
  request.url = (endpoint->tls ? "https://" : "http://") + endpoint->host + call.path;
  request.headers = call.headers;
  request.body = call.body;
  request.connect_timeout = context.settings.patience.connect;
  request.stall_timeout = context.settings.patience.stall;
  const HttpResponse response = context.http.perform(request);
  pugi::xml_document document;
  const bool readable = response.trouble == Trouble::none && document.load_string(response.body.c_str());
  if (!readable || response.status != 200) {
    std::string why = response.trouble != Trouble::none ? response.text : "status " + std::to_string(response.status);
    if (const std::string code = readable ? element(document, "Code") : std::string(); !code.empty()) {
      why += " " + code;
    }
    return no_credentials("cannot take on the role " + in_quotes(role) + ": " + printable(why));
  }
  Credentials credentials{element(document, "AccessKeyId"), element(document, "SecretAccessKey"),
                          element(document, "SessionToken"), parse_time(element(document, "Expiration"))};
  if (credentials.key_id.empty() || credentials.secret.empty()) {
    return no_credentials("cannot take on the role " + in_quotes(role) + ": the answer holds no credentials");
  }
  return std::optional(FoundCredentials{std::move(credentials), "the role " + in_quotes(role)});
}

}  // namespace smd::detail::storage::s3
