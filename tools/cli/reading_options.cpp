// SPDX-License-Identifier: Apache-2.0
#include "cli/reading_options.hpp"

#include <array>
#include <vector>

namespace smd::tool {

namespace {

constexpr std::array<OptionSpec, 3> own_table = {{
    {.short_name = 'j',
     .name = "jobs",
     .metavar = "N",
     .help = "threads (default: one for each CPU); on S3, requests at once (default: 32)",
     .group = group::reading,
     .kind = ArgumentKind::number},
    {.name = "no-verify", .help = "do not check the checksums of records", .group = group::reading},
    {.name = "cache",
     .metavar = "DIR",
     .help = "keep what was read from S3 in DIR (default: SMD_CACHE_DIR, else nothing is kept)",
     .group = group::reading,
     .kind = ArgumentKind::folder,
     .manual = "Keep what was read from S3 in DIR (default: SMD_CACHE_DIR, else nothing is kept), by its ETag, up to 1 "
               "GiB; any number of commands may share it. DIR is made, or is an empty folder, or one that this option "
               "made before: it then holds the file CACHEDIR.TAG. Any other folder is a usage error, and nothing in it "
               "is touched. Only files with names of the "
               "cache's own form are removed."},
}};

constexpr std::array<OptionSpec, 1> superseded_option = {{
    {.name = "superseded",
     .help = "show superseded values instead: those that later values of a restarted job replaced",
     .group = group::selection,
     .manual = "Show superseded values instead: a job that was restarted from an earlier step wrote values again, and "
               "the later ones replace the earlier. Equal steps stand in the order in which they were written; the "
               "column wall_time of smd-tensor tells them apart. smd-ls --summary counts them."},
}};

}  // namespace

std::span<const OptionSpec> ReadingOptions::superseded_table() noexcept { return superseded_option; }

std::span<const OptionSpec> ReadingOptions::table() noexcept {
  static const std::vector<OptionSpec> table = with_remote_options(own_table);
  return table;
}

ReadingOptions ReadingOptions::from(const CommandLine& line) {
  ReadingOptions options;
  const auto jobs = line.convert("jobs", [](const std::string& text) { return parse_integer(text, 1, 1024); });
  options.jobs = static_cast<unsigned>(jobs.value_or(0));
  options.verify = !line.has("no-verify");
  options.superseded = line.has("superseded");
  if (options.superseded && line.has("follow")) {
    throw UsageError("--superseded and --follow: what comes counts when it comes; leave out one of the two");
  }
  options.remote = remote_options(line);
  options.remote.cache = line.value("cache").value_or(std::string());
  return options;
}

TrialOptions ReadingOptions::trial_options(const StepRange& range) const {
  TrialOptions options;
  options.range_steps = range;
  options.jobs = jobs;
  options.verify = verify;
  options.as_it_stands = true;
  options.superseded = superseded;
  options.auto_refresh = false;
  options.remote = remote;
  return options;
}

void say_remote(TrialOptions& options, Diagnostics& messages) { say_remote(options.remote, messages); }

}  // namespace smd::tool
