// SPDX-License-Identifier: Apache-2.0
#include "storage/s3/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/escape.hpp"

namespace smd::detail::storage::s3 {
namespace {

constexpr unsigned default_in_flight = 32;
constexpr unsigned most_attempts = 100;

/// The first that is there.
std::optional<std::string> first_of(std::initializer_list<std::optional<std::string>> values) {
  const auto found =
      std::find_if(values.begin(), values.end(), [](const auto& value) { return value && !value->empty(); });
  return found == values.end() ? std::nullopt : *found;
}

std::optional<std::string> setting(const std::optional<Profile>& profile, std::string_view name) {
  if (!profile) {
    return std::nullopt;
  }
  const auto found = profile->find(name);
  return found == profile->end() ? std::nullopt : std::optional(found->second);
}

Problem wrong(std::string text) { return {ProblemKind::io, {}, {}, std::move(text)}; }

Problem no_endpoint(std::string_view url) {
  const std::size_t at = url.rfind('@');  // before it may stand a password
  return wrong("the endpoint '" + (at == url.npos ? printable(url) : "***" + printable(url.substr(at))) +
               "' is no http:// or https:// URL of a host");
}

bool ignores_endpoints(const std::optional<Profile>& profile) {
  const auto value = first_of(
      {environment("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"), setting(profile, "ignore_configured_endpoint_urls")});
  return value == "true";
}

}  // namespace

Outcome<Settings> Settings::make(const RemoteOptions& options, unsigned in_flight) {
  Settings settings;
  settings.files = AwsFiles::load();
  settings.profile_by_option = !options.profile.empty();
  const auto name = first_of({options.profile, environment("AWS_PROFILE"), environment("AWS_DEFAULT_PROFILE")});
  settings.profile_asked_for = name.has_value();
  settings.profile_name = name.value_or("default");
  const std::optional<Profile> profile = settings.files.profile(settings.profile_name);
  if (settings.profile_asked_for && !profile) {
    return wrong("there is no profile '" + printable(settings.profile_name) +
                 "' in the AWS config and credentials files");
  }
  const auto url = ignores_endpoints(profile)
                       ? first_of({options.endpoint_url})
                       : first_of({options.endpoint_url, environment("AWS_ENDPOINT_URL_S3"),
                                   environment("AWS_ENDPOINT_URL"), setting(profile, "endpoint_url")});
  if (url) {
    settings.endpoint = parse_endpoint(*url);
    if (!settings.endpoint) {
      return no_endpoint(*url);
    }
  }
  const auto region = first_of(
      {options.region, environment("AWS_REGION"), environment("AWS_DEFAULT_REGION"), setting(profile, "region")});
  settings.region_given = region.has_value();
  settings.region = region.value_or("us-east-1");
  if (!is_region(settings.region)) {
    return wrong("'" + printable(settings.region) + "' is no region");
  }
  settings.ca_file = first_of({environment("AWS_CA_BUNDLE"), setting(profile, "ca_bundle")}).value_or(std::string());
  if (const auto text = first_of({environment("AWS_MAX_ATTEMPTS"), setting(profile, "max_attempts")})) {
    unsigned attempts = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), attempts);
    if (error != std::errc{} || end != text->data() + text->size() || attempts == 0) {
      return wrong("AWS_MAX_ATTEMPTS '" + printable(*text) + "' is no number from 1");
    }
    settings.attempts = std::min(attempts, most_attempts);
  }
  settings.cache = first_of({options.cache, environment("SMD_CACHE_DIR")}).value_or(std::string());
  settings.sign = options.sign_requests;
  settings.in_flight = in_flight == 0 ? default_in_flight : in_flight;
  settings.log = options.log;
  return settings;
}

Outcome<Endpoint> service_endpoint(const Settings& settings, std::string_view service, const char* variable) {
  const auto profile = settings.files.profile(settings.profile_name);
  const auto url =
      ignores_endpoints(profile)
          ? std::optional<std::string>()
          : first_of({environment(variable), environment("AWS_ENDPOINT_URL"), setting(profile, "endpoint_url")});
  if (!url) {
    Endpoint endpoint;
    endpoint.host = (service == "sagemaker" ? "api.sagemaker." : std::string(service) + ".") + settings.region + "." +
                    std::string(aws_domain(settings.region));
    return endpoint;
  }
  const auto endpoint = parse_endpoint(*url);
  if (!endpoint) {
    return no_endpoint(*url);
  }
  return *endpoint;
}

}  // namespace smd::detail::storage::s3
