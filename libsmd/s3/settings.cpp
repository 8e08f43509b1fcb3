// SPDX-License-Identifier: Apache-2.0
#include "s3/settings.hpp"

#include <algorithm>
#include <random>

#include "text/environment.hpp"
#include "text/escape.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr unsigned most_attempts = 100;

/// Returns the first value that is set.
std::optional<std::string> first_of(std::initializer_list<std::optional<std::string>> values) {
  const auto found = std::ranges::find_if(values, [](const auto& value) { return value && !value->empty(); });
  return found == values.end() ? std::nullopt : *found;
}

std::optional<std::string> setting(const std::optional<Profile>& profile, std::string_view name) {
  return profile ? std::optional(s3::setting(*profile, name)) : std::nullopt;
}

Problem wrong(std::string text) { return make_problem(ProblemKind::io, std::move(text)); }

/// Returns the URL without parts that may be secret: user and password before an `@`, and everything after a `?` or
/// `#`.
std::string shown(std::string_view url) {
  const std::size_t end = url.find_first_of("?#");
  if (end != url.npos && url.find('@', end) != url.npos) {
    return "***";  // a password may contain `?` and `#`
  }
  const std::string_view place = url.substr(0, end);
  const std::size_t at = place.rfind('@');
  return (at == place.npos ? printable(place) : "***" + printable(place.substr(at))) +
         (end == url.npos ? "" : url[end] + std::string("***"));
}

Problem no_endpoint(std::string_view url) {
  return wrong("the endpoint '" + shown(url) + "' is no http:// or https:// URL of a host");
}

bool ignores_endpoints(const std::optional<Profile>& profile) {
  const auto value = first_of(
      {text::environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"), setting(profile, "ignore_configured_endpoint_urls")});
  return value == "true";
}

}  // namespace

std::chrono::milliseconds random_pause(const Patience& patience, unsigned attempt) {
  thread_local std::minstd_rand random{std::random_device{}()};
  const auto most = std::min<std::chrono::milliseconds>(patience.most_pause,
                                                        patience.first_pause * (1LL << std::min(attempt - 1, 20U)));
  return std::chrono::milliseconds(std::uniform_int_distribution<std::int64_t>(0, most.count())(random));
}

Outcome<Settings> Settings::make(const RemoteOptions& options, unsigned in_flight) {
  Settings settings;
  settings.files = AwsFiles::load();
  if (options.log) {
    for (const std::string& text : settings.files.too_long()) {
      options.log(LogLevel::warning, text);
    }
  }
  settings.profile_by_option = !options.profile.empty();
  const auto name =
      first_of({options.profile, text::environment("AWS_PROFILE"), text::environment("AWS_DEFAULT_PROFILE")});
  settings.profile_asked_for = name.has_value();
  settings.profile_name = name.value_or("default");
  if (has_control(settings.profile_name)) {
    return wrong("the profile's name " + in_quotes(settings.profile_name) + " holds a control character");
  }
  const std::optional<Profile> profile = settings.files.profile(settings.profile_name);
  if (settings.profile_asked_for && !profile) {
    return wrong("there is no profile " + in_quotes(settings.profile_name) +
                 " in the AWS config and credentials files" + settings.files.unread());
  }
  const auto url = ignores_endpoints(profile)
                       ? first_of({options.endpoint_url})
                       : first_of({options.endpoint_url, text::environment("AWS_ENDPOINT_URL_S3"),
                                   text::environment("AWS_ENDPOINT_URL"), setting(profile, "endpoint_url")});
  if (url) {
    settings.endpoint = parse_endpoint(*url);
    if (!settings.endpoint) {
      return no_endpoint(*url);
    }
  }
  const auto region = first_of({options.region, text::environment("AWS_REGION"),
                                text::environment("AWS_DEFAULT_REGION"), setting(profile, "region")});
  settings.region_given = region.has_value();
  settings.region = region.value_or("us-east-1");
  if (!is_region(settings.region)) {
    return wrong(in_quotes(settings.region) + " is no region");
  }
  const std::string fips =
      first_of({text::environment("AWS_USE_FIPS_ENDPOINT"), setting(profile, "use_fips_endpoint")}).value_or("false");
  settings.fips = detail::folded(fips) == "true";
  if (!settings.fips && detail::folded(fips) != "false") {  // a typing error must not select the other endpoint
    return wrong("AWS_USE_FIPS_ENDPOINT " + in_quotes(fips) + " is neither true nor false");
  }
  if (settings.fips && !settings.endpoint && settings.region.starts_with("cn-")) {  // AWS has none in China
    return wrong("AWS_USE_FIPS_ENDPOINT: the region " + settings.region + " has no FIPS endpoints");
  }
  settings.ca_file =
      first_of({text::environment("AWS_CA_BUNDLE"), setting(profile, "ca_bundle")}).value_or(std::string());
  if (const auto given = first_of({text::environment("AWS_MAX_ATTEMPTS"), setting(profile, "max_attempts")})) {
    const unsigned attempts = text::parsed<unsigned>(*given).value_or(0);
    if (attempts == 0) {
      return wrong("AWS_MAX_ATTEMPTS " + in_quotes(*given) + " is no number from 1");
    }
    settings.attempts = std::min(attempts, most_attempts);
  }
  settings.cache = cache_folder_of(options);
  settings.sign = options.sign_requests;
  settings.requester_pays = options.requester_pays;
  settings.in_flight = in_flight == 0 ? settings.in_flight : in_flight;
  settings.log = options.log;
  settings.stop = options.stop;
  settings.answered = options.answered;
  return settings;
}

std::string cache_folder_of(const RemoteOptions& options) {
  return first_of({options.cache, text::environment("SMD_CACHE_DIR")}).value_or(std::string());
}

Outcome<Endpoint> service_endpoint(const Settings& settings, std::string_view service, const char* variable) {
  const auto profile = settings.files.profile(settings.profile_name);
  const auto url = ignores_endpoints(profile)
                       ? std::optional<std::string>()
                       : first_of({text::environment(variable), text::environment("AWS_ENDPOINT_URL"),
                                   setting(profile, "endpoint_url")});
  if (!url) {
    return Endpoint{.host = aws_host(service, settings.region, settings.fips), .base = {}};
  }
  const auto endpoint = parse_endpoint(*url);
  return endpoint ? Outcome<Endpoint>(*endpoint) : no_endpoint(*url);
}

}  // namespace smd::detail::storage::s3
