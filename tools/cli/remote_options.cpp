// SPDX-License-Identifier: Apache-2.0
#include "cli/remote_options.hpp"

#include "cli/interruption.hpp"

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
     .kind = ValueKind::text},
    {.name = "region",
     .metavar = "REGION",
     .help = "the region of the buckets (default: as the AWS CLI, else found out)",
     .group = s3_group,
     .kind = ValueKind::text},
    {.name = "profile",
     .metavar = "NAME",
     .help = "profile of the AWS configuration files whose credentials to use",
     .group = s3_group,
     .kind = ValueKind::text},
    {.name = "no-sign-request", .help = "ask without credentials, for public buckets", .group = s3_group},
    {.name = "request-payer",
     .metavar = "WHO",
     .help = "requester: pay for what is asked of a Requester Pays bucket",
     .group = s3_group,
     .kind = ValueKind::choice,
     .choices = payers},
}};

}  // namespace

std::vector<OptionSpec> with_remote_options(std::span<const OptionSpec> own) {
  std::vector<OptionSpec> all(own.begin(), own.end());
  all.insert(all.end(), remote_table.begin(), remote_table.end());
  return all;
}

RemoteOptions remote_options(const CommandLine& line) {
  RemoteOptions options;
  options.stop = [] { return interrupted(); };
  options.endpoint_url = line.value("endpoint-url").value_or(std::string());
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
