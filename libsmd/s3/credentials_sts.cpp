// SPDX-License-Identifier: Apache-2.0
// Credentials of a role from the Security Token Service (docs.aws.amazon.com, "AWS STS API Reference").
#include <algorithm>
#include <chrono>
#include <pugixml.hpp>

#include "s3/credentials.hpp"
#include "s3/reply.hpp"
#include "s3/scrub.hpp"
#include "text/escape.hpp"

namespace smd::detail::storage::s3 {
namespace {

/// Returns the text of the first element with this name, at any depth.
std::string element(const pugi::xml_document& document, const char* name) {
  const pugi::xml_node node =
      document.find_node([name](const pugi::xml_node& each) { return std::string_view(each.name()) == name; });
  return node.child_value();
}

bool may_pass(const HttpResponse& response, const std::string& code) {
  switch (response.trouble) {
    case Trouble::none:
      return response.status == 429 || response.status >= 500 || code == "IDPCommunicationError" ||
             code == "Throttling";
    case Trouble::resolve:
    case Trouble::connect:
    case Trouble::stalled:
    case Trouble::broken:
      return true;
    case Trouble::tls:
    case Trouble::too_long:
    case Trouble::internal:
    case Trouble::stopped:
      break;
  }
  return false;
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
  const std::string refused = "cannot take on the role '" + printable(role) + "': ";
  const std::string body = canonical_query(form);
  for (unsigned attempt = 1;; ++attempt) {
    Signable call{"POST", endpoint->host, endpoint->base + "/", {}, {}, body};
    call.headers.push_back({"content-type", "application/x-www-form-urlencoded"});
    if (base != nullptr) {
      sign(call, *base, settings.region, "sts", std::chrono::system_clock::now());
    }
    HttpRequest request;
    request.method = "POST";
    request.url = (endpoint->tls ? "https://" : "http://") + endpoint->host + call.path;
    request.headers = std::move(call.headers);
    request.body = body;
    request.connect_timeout = settings.patience.connect;
    request.stall_timeout = settings.patience.stall;
    request.total_timeout = settings.patience.total;
    request.stop = context.stop;
    const HttpResponse response = context.http.perform(request);
    pugi::xml_document document;
    const bool readable = response.trouble == Trouble::none && document.load_string(response.body.c_str());
    if (!readable || response.status != 200) {
      const std::string code = readable ? element(document, "Code") : std::string();
      if (may_pass(response, code) && attempt < settings.attempts) {
        sleep_until(std::chrono::steady_clock::now() + random_pause(settings.patience, attempt), context.stop);
        continue;
      }
      std::string why = response.trouble != Trouble::none ? response.text : "status " + std::to_string(response.status);
      why.append(code.empty() ? "" : " ").append(code);
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
    return std::optional(FoundCredentials{std::move(credentials), "the role '" + printable(role) + "'"});
  }
}

Query role_form(const char* action, const std::string& role, const std::string& session) {
  return {{"Action", action},
          {"Version", "2011-06-15"},
          {"RoleArn", role},
          {"RoleSessionName", session.empty() ? "libsmd" : session}};
}

}  // namespace

Finding assume_role(const CredentialContext& context, const Profile& profile, const Credentials& base) {
  const std::string role = setting(profile, "role_arn");
  Query form = role_form("AssumeRole", role, setting(profile, "role_session_name"));
  for (const auto& [from, to] : {std::pair("external_id", "ExternalId"), {"duration_seconds", "DurationSeconds"}}) {
    if (const std::string value = setting(profile, from); !value.empty()) {
      form.emplace_back(to, value);
    }
  }
  return ask_for_role(context, role, form, &base);
}

Finding assume_role_with_web_identity(const CredentialContext& context, const WebIdentity& identity) {
  // Read each time, because the issuer replaces the file before the token expires.
  auto token = read_small_file(identity.token_file);
  if (!token) {
    return no_credentials("cannot read '" + printable(identity.token_file) + "', the " + identity.named_by + ": " +
                          token.problem().text);
  }
  token->erase(token->find_last_not_of(" \t\r\n") + 1);
  if (token->empty()) {
    return no_credentials("'" + printable(identity.token_file) + "', the " + identity.named_by + ", is empty");
  }
  Query form = role_form("AssumeRoleWithWebIdentity", identity.role, identity.session);
  form.emplace_back("WebIdentityToken", std::move(*token));
  return ask_for_role(context, identity.role, form, nullptr);
}

Finding credentials_from_web_identity(const CredentialContext& context) {
  const auto file = environment("AWS_WEB_IDENTITY_TOKEN_FILE");
  if (!file) {
    return std::optional<FoundCredentials>();
  }
  const auto role = environment("AWS_ROLE_ARN");
  if (!role) {
    return no_credentials("AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN, the role to assume, is not");
  }
  return assume_role_with_web_identity(context, {*role, environment("AWS_ROLE_SESSION_NAME").value_or(std::string()),
                                                 *file, "AWS_WEB_IDENTITY_TOKEN_FILE"});
}

}  // namespace smd::detail::storage::s3
