// SPDX-License-Identifier: Apache-2.0
#include <smd/limits.hpp>

#include <algorithm>
#include <vector>

#include "s3/credentials.hpp"
#include "text/escape.hpp"

namespace smd::detail::storage::s3 {
namespace {

std::string in_quotes(std::string_view name) { return "'" + printable(name) + "'"; }

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
    auto found = credentials_from_process(command, context.stop);
    if (!found) {
      Problem problem = std::move(found.problem());
      problem.text = "the credential_process of the profile " + in_quotes(name) + " " + problem.text;
      return problem;
    }
    (*found)->where = "the credential_process of the profile " + in_quotes(name);
    return found;
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
  const auto odd = std::find_if(profile.begin(), profile.end(), [](const auto& setting) {
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
    const bool again = std::any_of(roles.begin(), roles.end(), [&](const Role& role) { return role.name == name; });
    // A profile may name itself as the source of its own keys.
    const bool keys = !setting(*profile, "aws_access_key_id").empty();
    if (setting(*profile, "role_arn").empty() || (again && keys)) {
      return own_credentials(context, name, *profile);
    }
    if (again) {
      return no_credentials("the profiles' source_profile lead back to " + in_quotes(name));
    }
    if (const std::string file = setting(*profile, "web_identity_token_file"); !file.empty()) {
      return assume_role_with_web_identity(context,
                                           {setting(*profile, "role_arn"), setting(*profile, "role_session_name"), file,
                                            "web_identity_token_file of the profile " + in_quotes(name)});
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
