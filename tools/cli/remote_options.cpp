// SPDX-License-Identifier: Apache-2.0
#include "cli/remote_options.hpp"

#include "cli/interruption.hpp"
#include "errors.hpp"
#include "interruption.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace smd::tool {

namespace {

constexpr std::string_view s3_group = "Trials on S3";
constexpr std::array<std::string_view, 1> payers = {"requester"};

constexpr std::array<OptionSpec, 5> remote_table = {{
    {.name = "endpoint-url",
     .metavar = "URL",
     .help = "ask this server instead of AWS",
     .group = s3_group,
     .kind = ArgumentKind::text},
    {.name = "region",
     .metavar = "REGION",
     .help = "the region of the buckets (default: as the AWS CLI, else determined automatically)",
     .group = s3_group,
     .kind = ArgumentKind::text},
    {.name = "profile",
     .metavar = "NAME",
     .help = "profile of the AWS configuration files whose credentials to use",
     .group = s3_group,
     .kind = ArgumentKind::text},
    {.name = "no-sign-request", .help = "ask without credentials, for public buckets", .group = s3_group},
    {.name = "request-payer",
     .metavar = "WHO",
     .help = "requester: pay for requests to a Requester Pays bucket",
     .group = s3_group,
     .kind = ArgumentKind::choice,
     .choices = payers},
}};

}  // namespace

namespace {

/// The message does not repeat a refused URL, which may hold a password or a signature.
std::string parse_endpoint_url(const std::string& url) {
  std::string_view rest(url);
  for (const std::string_view scheme : {"http://", "https://"}) {
    rest.remove_prefix(rest.starts_with(scheme) ? scheme.size() : 0);
  }
  const bool has_host = rest.size() < url.size() && !rest.empty() && rest.front() != '/';
  const bool plain = std::none_of(rest.begin(), rest.end(), [](char c) {
    return std::string_view("?#@ ").find(c) != std::string_view::npos || static_cast<unsigned char>(c) < ' ' ||
           c == 0x7F;
  });
  if (!url.empty() && !(has_host && plain)) {
    throw InvalidValue("not an http:// or https:// URL of a host without user, query and fragment");
  }
  return url;
}

}  // namespace

std::vector<OptionSpec> with_remote_options(std::span<const OptionSpec> own) {
  std::vector<OptionSpec> all(own.begin(), own.end());
  all.insert(all.end(), remote_table.begin(), remote_table.end());
  return all;
}

RemoteOptions remote_options(const CommandLine& line) {
  RemoteOptions options;
  options.stop = [] { return interrupted(); };
  options.endpoint_url = line.convert("endpoint-url", parse_endpoint_url).value_or(std::string());
  options.region = line.value("region").value_or(std::string());
  options.profile = line.value("profile").value_or(std::string());
  options.sign_requests = !line.has("no-sign-request");
  options.requester_pays = line.has("request-payer");
  if (options.requester_pays && !options.sign_requests) {
    throw UsageError("--request-payer: who pays must be known, which --no-sign-request leaves out");
  }
  return options;
}

void say_remote(RemoteOptions& options, Diagnostics& messages) {
  options.log = [&messages](RemoteDetail detail, std::string_view text) {
    switch (detail) {
      case RemoteDetail::warning:
        messages.warning(text);
        return;
      case RemoteDetail::info:
        messages.info(text);
        return;
      case RemoteDetail::debug:
        messages.debug(text);
        return;
    }
  };
}

}  // namespace smd::tool
