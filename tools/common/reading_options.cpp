// SPDX-License-Identifier: Apache-2.0
#include "reading_options.hpp"

#include <array>

namespace smd::tool {

namespace {

constexpr std::array<OptionSpec, 7> reading_table = {{
    {.short_name = 'j',
     .name = "jobs",
     .metavar = "N",
     .help = "threads (default: one for each CPU); on S3, requests at once (default: 32)",
     .group = group::reading,
     .kind = ValueKind::number},
    {.name = "no-verify", .help = "do not check the checksums of records", .group = group::reading},
    {.name = "cache",
     .metavar = "DIR",
     .help = "keep what was read from S3 in DIR (default: SMD_CACHE_DIR, else nothing is kept)",
     .group = group::reading,
     .kind = ValueKind::folder},
    {.name = "endpoint-url",
     .metavar = "URL",
     .help = "ask this server instead of AWS for trials on S3",
     .group = group::reading,
     .kind = ValueKind::text},
    {.name = "region",
     .metavar = "REGION",
     .help = "the region of the buckets (default: as the AWS CLI, else found out)",
     .group = group::reading,
     .kind = ValueKind::text},
    {.name = "profile",
     .metavar = "NAME",
     .help = "profile of the AWS configuration files whose credentials to use",
     .group = group::reading,
     .kind = ValueKind::text},
    {.name = "no-sign-request", .help = "ask S3 without credentials, for public buckets", .group = group::reading},
}};

}  // namespace

std::span<const OptionSpec> ReadingOptions::table() noexcept { return reading_table; }

ReadingOptions ReadingOptions::from(const CommandLine& line) {
  ReadingOptions options;
  const auto jobs = line.convert("jobs", [](const std::string& text) { return parse_integer(text, 1, 1024); });
  options.jobs = static_cast<unsigned>(jobs.value_or(0));
  options.verify = !line.has("no-verify");
  options.remote.cache = line.value("cache").value_or(std::string());
  options.remote.endpoint_url = line.value("endpoint-url").value_or(std::string());
  options.remote.region = line.value("region").value_or(std::string());
  options.remote.profile = line.value("profile").value_or(std::string());
  options.remote.sign_requests = !line.has("no-sign-request");
  return options;
}

TrialOptions ReadingOptions::trial_options(const StepRange& range) const {
  TrialOptions options;
  options.range_steps = range;
  options.jobs = jobs;
  options.verify = verify;
  options.auto_refresh = false;
  options.remote = remote;
  return options;
}

void say_remote(TrialOptions& options, Diagnostics& messages) {
  options.remote.log = [&messages](RemoteDetail detail, std::string_view text) {
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
