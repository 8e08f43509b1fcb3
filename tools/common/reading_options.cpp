// SPDX-License-Identifier: Apache-2.0
#include "reading_options.hpp"

#include <array>

namespace smd::tool {

namespace {

constexpr std::array<OptionSpec, 2> reading_table = {{
    {.short_name = 'j',
     .name = "jobs",
     .metavar = "N",
     .help = "threads (default: one for each CPU)",
     .group = group::reading,
     .kind = ValueKind::number},
    {.name = "no-verify", .help = "do not check the checksums of records", .group = group::reading},
}};

}  // namespace

std::span<const OptionSpec> ReadingOptions::table() noexcept { return reading_table; }

ReadingOptions ReadingOptions::from(const CommandLine& line) {
  ReadingOptions options;
  const auto jobs = line.convert("jobs", [](const std::string& text) { return parse_integer(text, 1, 1024); });
  options.jobs = static_cast<unsigned>(jobs.value_or(0));
  options.verify = !line.has("no-verify");
  return options;
}

TrialOptions ReadingOptions::trial_options(const StepRange& range) const {
  TrialOptions options;
  options.range_steps = range;
  options.jobs = jobs;
  options.verify = verify;
  options.auto_refresh = false;
  return options;
}

}  // namespace smd::tool
