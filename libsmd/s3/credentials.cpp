// SPDX-License-Identifier: Apache-2.0
#include "s3/credentials.hpp"

#include <algorithm>
#include <charconv>
#include "text/json.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr std::chrono::minutes renew_before{5};
constexpr std::chrono::seconds renew_again{30};

std::string text_of(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> parse_time(std::string_view text) {
  const auto number = [&text](std::size_t at, std::size_t length) -> std::optional<int> {
    if (at + length > text.size()) {
      return std::nullopt;
    }
    int value = 0;
    const char* const end = text.data() + at + length;
    const auto [stop, error] = std::from_chars(text.data() + at, end, value);
    return error == std::errc{} && stop == end && value >= 0 ? std::optional(value) : std::nullopt;
  };
  const auto year = number(0, 4);
  const auto month = number(5, 2);
  const auto day = number(8, 2);
  const auto hour = number(11, 2);
  const auto minute = number(14, 2);
  const auto second = number(17, 2);
  if (!year || !month || !day || !hour || !minute || !second || text[4] != '-' || text[10] != 'T') {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) {
    return std::nullopt;
  }
  std::chrono::sys_seconds time = std::chrono::sys_days(date) + std::chrono::hours(*hour) +
                                  std::chrono::minutes(*minute) + std::chrono::seconds(*second);
  const std::size_t zone = text.find_first_of("+-Z", 19);
  if (zone != text.npos && text[zone] != 'Z') {
    const std::chrono::minutes offset =
        std::chrono::hours(number(zone + 1, 2).value_or(0)) + std::chrono::minutes(number(zone + 4, 2).value_or(0));
    time += text[zone] == '+' ? -offset : offset;
  }
  // The clock counts nanoseconds; its range is 1677 to 2262.
  using Clock = std::chrono::system_clock;
  constexpr auto first = std::chrono::ceil<std::chrono::seconds>(Clock::time_point::min());
  constexpr auto last = std::chrono::floor<std::chrono::seconds>(Clock::time_point::max());
  return std::clamp(time, first, last);
}

std::optional<Credentials> credentials_from_json(std::string_view text, const char* token_name) {
  text::JsonDocument<nlohmann::json> document;
  if (text::parse_json(text, document) || !document->is_object()) {
    return std::nullopt;
  }
  const nlohmann::json& object = *document;
  Credentials credentials{text_of(object, "AccessKeyId"), text_of(object, "SecretAccessKey"),
                          text_of(object, token_name), parse_time(text_of(object, "Expiration"))};
  if (credentials.key_id.empty() || credentials.secret.empty()) {
    return std::nullopt;
  }
  return credentials;
}

Finding credentials_from_environment() {
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
  using Found = std::shared_ptr<const FoundCredentials>;
  const auto as_found = [](FoundCredentials&& found) -> Found {
    return std::make_shared<const FoundCredentials>(std::move(found));
  };
  if (!context.settings.profile_by_option) {
    auto found = checked(credentials_from_environment());
    if (!found) {
      return std::move(found.problem());
    }
    if (*found) {
      return as_found(std::move(**found));
    }
  }
  if (!context.settings.profile_by_option && !takes_role_from_source(context.settings)) {
    auto found = checked(credentials_from_web_identity(context));
    if (!found) {
      return std::move(found.problem());
    }
    if (*found) {
      return as_found(std::move(**found));
    }
  }
  for (const auto source : {&credentials_from_profile, &credentials_from_container, &credentials_from_metadata}) {
    auto found = checked(source(context));
    if (!found) {
      return std::move(found.problem());
    }
    if (*found) {
      return as_found(std::move(**found));
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
