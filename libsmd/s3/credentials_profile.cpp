// SPDX-License-Identifier: Apache-2.0
// Credentials of a profile, and of roles from the Security Token Service (docs.aws.amazon.com, "AWS STS API
// Reference").
#include <algorithm>
#include <array>
#include <chrono>
#include <pugixml.hpp>
#include <vector>

#include "s3/credentials.hpp"
#include "s3/reply.hpp"
#include "s3/scrub.hpp"
#include "text/environment.hpp"
#include "text/escape.hpp"
#include "text/limits.hpp"
#include "text/mapped.hpp"
#include "text/words.hpp"

namespace smd::detail::storage::s3 {
namespace {

/// Returns the text of the first element with this name, at any depth.
std::string element(const pugi::xml_document& document, const char* name) {
  const pugi::xml_node node =
      document.find_node([name](const pugi::xml_node& each) { return std::string_view(each.name()) == name; });
  return node.child_value();
}

bool may_pass(const HttpResponse& response, const std::string& code) {
  constexpr std::array passing = {Trouble::resolve, Trouble::connect, Trouble::stalled, Trouble::broken};
  return response.trouble == Trouble::none ? response.status == 429 || response.status >= 500 ||
                                                 code == "IDPCommunicationError" || code == "Throttling"
                                           : contains(passing, response.trouble);
}

/// Requests a role's credentials with a form; signed with `base`, or unsigned if it is null. Messages show neither the
/// form nor more of the answer than its code, because they contain tokens.
Finding ask_for_role(const CredentialContext& context, const std::string& role, const Query& form,
                     const Credentials* base) {
  const Settings& settings = context.settings;
  const auto endpoint = service_endpoint(settings, "sts", "AWS_ENDPOINT_URL_STS");
  if (!endpoint) {
    return endpoint.problem();
  }
  const std::string refused = "cannot take on the role " + in_quotes(role) + ": ";
  const std::string body = canonical_query(form);
  for (unsigned attempt = 1;; ++attempt) {
    Signable call{"POST", endpoint->host, endpoint->base + "/", {}, {}, body};
    call.headers.push_back({"content-type", "application/x-www-form-urlencoded"});
    if (base != nullptr) {
      sign(call, *base, settings.region, "sts", std::chrono::system_clock::now());
    }
    const HttpResponse response =
        context.http.perform({.method = "POST",
                              .url = (endpoint->tls ? "https://" : "http://") + endpoint->host + call.path,
                              .headers = std::move(call.headers),
                              .body = body,
                              .connect_timeout = settings.patience.connect,
                              .stall_timeout = settings.patience.stall,
                              .total_timeout = settings.patience.total,
                              .stop = context.stop});
    pugi::xml_document document;
    const bool readable = response.trouble == Trouble::none && document.load_string(response.body.c_str());
    if (!readable || response.status != 200) {
      const std::string code = readable ? element(document, "Code") : std::string();
      if (may_pass(response, code) && attempt < settings.attempts) {
        sleep_until(std::chrono::steady_clock::now() + random_pause(settings.patience, attempt), context.stop);
        continue;
      }
      std::string why = response.trouble != Trouble::none ? response.text : "status " + std::to_string(response.status);
      text::append_part(why, code, " ");
      for (const auto& [name, value] : form) {  // a code may repeat what was sent
        why = name == "WebIdentityToken" || name == "ExternalId" ? without(std::move(why), value) : std::move(why);
      }
      why = base != nullptr ? scrubbed(std::move(why), *base) : std::move(why);
      return no_credentials(refused + printable(why));
    }
    Credentials credentials{element(document, "AccessKeyId"), element(document, "SecretAccessKey"),
                            element(document, "SessionToken"), parse_time(element(document, "Expiration"))};
    if (credentials.key_id.empty() || credentials.secret.empty()) {
      return no_credentials(refused + "the answer holds no credentials");
    }
    return std::optional(FoundCredentials{std::move(credentials), "the role " + in_quotes(role)});
  }
}

Query role_form(const char* action, const Profile& profile) {
  const std::string session = setting(profile, "role_session_name");
  return {{"Action", action},
          {"Version", "2011-06-15"},
          {"RoleArn", setting(profile, "role_arn")},
          {"RoleSessionName", session.empty() ? "libsmd" : session}};
}

/// STS AssumeRole, signed with `base`.
Finding assume_role(const CredentialContext& context, const Profile& profile, const Credentials& base) {
  Query form = role_form("AssumeRole", profile);
  for (const auto& [from, to] : {std::pair("external_id", "ExternalId"), {"duration_seconds", "DurationSeconds"}}) {
    if (const std::string value = setting(profile, from); !value.empty()) {
      form.emplace_back(to, value);
    }
  }
  return ask_for_role(context, setting(profile, "role_arn"), form, &base);
}

/// STS AssumeRoleWithWebIdentity, with the token of an identity provider that grants the role. `named_by`, for
/// messages: the setting that names the token's file.
Finding assume_role_with_web_identity(const CredentialContext& context, const Profile& profile,
                                      const std::string& named_by) {
  const std::string file = setting(profile, "web_identity_token_file");
  // Read each time, because the issuer replaces the file before the token expires.
  auto token = read_small_file(file);
  if (!token) {
    return no_credentials("cannot read " + in_quotes(file) + ", the " + named_by + ": " + token.problem().text);
  }
  token->erase(token->find_last_not_of(" \t\r\n") + 1);
  if (token->empty()) {
    return no_credentials(in_quotes(file) + ", the " + named_by + ", is empty");
  }
  Query form = role_form("AssumeRoleWithWebIdentity", profile);
  form.emplace_back("WebIdentityToken", std::move(*token));
  return ask_for_role(context, setting(profile, "role_arn"), form, nullptr);
}

/// A profile that assumes a role with credentials from another source.
struct Role {
  std::string name;
  Profile profile;
};

Finding from_credential_source(const CredentialContext& context, const Role& role) {
  const std::string kind = setting(role.profile, "credential_source");
  if (kind == "Environment") {
    return credentials_from_environment(context);
  }
  if (kind == "EcsContainer") {
    return credentials_from_container(context);
  }
  if (kind == "Ec2InstanceMetadata") {
    return credentials_from_metadata(context);
  }
  return no_credentials("the profile " + in_quotes(role.name) +
                        " has a role_arn, but neither a source_profile nor a credential_source "
                        "that is known");
}

/// Returns the credentials in the profile itself.
Finding own_credentials(const CredentialContext& context, const std::string& name, const Profile& profile) {
  if (!setting(profile, "aws_access_key_id").empty()) {
    Credentials credentials{setting(profile, "aws_access_key_id"), setting(profile, "aws_secret_access_key"),
                            setting(profile, "aws_session_token")};
    if (credentials.secret.empty()) {
      return no_credentials("the profile " + in_quotes(name) +
                            " has an aws_access_key_id, but no aws_secret_access_key");
    }
    return std::optional(FoundCredentials{std::move(credentials), "the profile " + in_quotes(name)});
  }
  if (const std::string command = setting(profile, "credential_process"); !command.empty()) {
    const std::string where = "the credential_process of the profile " + in_quotes(name);
    auto found = credentials_from_process(command, context.stop);
    if (!found) {
      return no_credentials(where + " " + found.problem().text);
    }
    return std::optional(FoundCredentials{std::move(*found), where});
  }
  if (!setting(profile, "sso_start_url").empty() || !setting(profile, "sso_session").empty()) {
    return no_credentials("the profile " + in_quotes(name) +
                          " signs in with SSO, which is not supported; run 'aws configure "
                          "export-credentials --format env' and put what it prints into the environment");
  }
  if (context.settings.profile_by_option) {
    return no_credentials("the profile " + in_quotes(name) + " holds no credentials");
  }
  return std::optional<FoundCredentials>();
}

/// Returns the first setting that cannot be sent; nullopt if all can. A command is not sent.
std::optional<std::string> odd_setting(const Profile& profile) {
  const auto odd = std::ranges::find_if(profile, [](const auto& setting) {
    return has_control(setting.first) || (setting.first != "credential_process" && has_control(setting.second));
  });
  return odd == profile.end() ? std::nullopt : std::optional(odd->first);
}

/// Returns the credentials of the last profile in a chain. `roles` receives the profiles before it, each of which
/// assumes a role with the credentials of the next one.
Finding follow_profiles(const CredentialContext& context, std::vector<Role>& roles) {
  std::string name = context.settings.profile_name;
  for (;;) {
    const auto profile = context.settings.files.profile(name);
    if (!profile) {
      if (roles.empty() && !context.settings.profile_asked_for) {
        return std::optional<FoundCredentials>();
      }
      return no_credentials("there is no profile " + in_quotes(name) + " in the AWS config and credentials files" +
                            context.settings.files.unread());
    }
    if (const auto odd = odd_setting(*profile)) {
      return no_credentials("the setting " + in_quotes(*odd) + " of the profile " + in_quotes(name) +
                            " holds a control character");
    }
    const bool again = std::ranges::any_of(roles, [&](const Role& role) { return role.name == name; });
    // A profile may name itself as the source of its own keys.
    if (setting(*profile, "role_arn").empty() || (again && !setting(*profile, "aws_access_key_id").empty())) {
      return own_credentials(context, name, *profile);
    }
    if (again) {
      return no_credentials("the profiles' source_profile lead back to " + in_quotes(name));
    }
    if (!setting(*profile, "web_identity_token_file").empty()) {
      return assume_role_with_web_identity(context, *profile,
                                           "web_identity_token_file of the profile " + in_quotes(name));
    }
    if (!setting(*profile, "mfa_serial").empty()) {
      return no_credentials("the profile " + in_quotes(name) +
                            " wants a one-time code (mfa_serial), which is not supported; get "
                            "temporary credentials with the AWS CLI and put them into the environment");
    }
    if (roles.size() == limits::profile_chain) {
      return no_credentials("more than " + std::to_string(limits::profile_chain) +
                            " profiles lead to one another by source_profile, from " +
                            in_quotes(context.settings.profile_name) + " on; that is the most allowed");
    }
    roles.push_back({name, *profile});
    name = setting(*profile, "source_profile");
    if (name.empty()) {
      return from_credential_source(context, roles.back());
    }
  }
}

}  // namespace

Finding credentials_from_web_identity(const CredentialContext& context) {
  const auto file = text::environment("AWS_WEB_IDENTITY_TOKEN_FILE");
  if (!file) {
    return std::optional<FoundCredentials>();
  }
  const auto role = text::environment("AWS_ROLE_ARN");
  if (!role) {
    return no_credentials("AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN, the role to assume, is not");
  }
  return assume_role_with_web_identity(
      context,
      {{"role_arn", *role},
       {"role_session_name", text::environment("AWS_ROLE_SESSION_NAME").value_or(std::string())},
       {"web_identity_token_file", *file}},
      "AWS_WEB_IDENTITY_TOKEN_FILE");
}

Finding credentials_from_profile(const CredentialContext& context) {
  std::vector<Role> roles;
  Finding found = checked(follow_profiles(context, roles));
  for (auto role = roles.rbegin(); role != roles.rend() && found; ++role) {
    if (!*found) {
      return no_credentials("the profile " + in_quotes(role->name) +
                            " takes on a role, but there are no credentials to ask for it with");
    }
    found = checked(assume_role(context, role->profile, (*found)->credentials));
  }
  return found;
}

bool takes_role_from_source(const Settings& settings) {
  const auto profile = settings.files.profile(settings.profile_name);
  return profile && !setting(*profile, "role_arn").empty() && setting(*profile, "web_identity_token_file").empty();
}

}  // namespace smd::detail::storage::s3
