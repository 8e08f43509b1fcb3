// SPDX-License-Identifier: Apache-2.0
#include "cli/reading_options.hpp"

#include <array>
#include <string>
#include <string_view>
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

constexpr std::array<OptionSpec, 2> superseded_options = {{
    {.name = "superseded",
     .help = "show superseded values instead: those that later ones replaced",
     .group = group::selection,
     .manual = "Show superseded values instead: those that later ones of a log directory replaced, because a restarted "
               "job wrote its steps again, or because one step was written several times. Equal steps stand in the "
               "order in which they were written; the column wall_time of smd-tensor tells them apart. smd-ls "
               "--summary counts them."},
    {.name = "with-superseded",
     .help = "show superseded values too; the last column, superseded, tells which they are",
     .group = group::selection,
     .manual = "Show all values, also those that --superseded shows. The last column of rows that are each of one "
               "value, superseded, is true for those."},
}};

}  // namespace

std::span<const OptionSpec> ReadingOptions::superseded_table() noexcept { return superseded_options; }

std::span<const OptionSpec> ReadingOptions::table() noexcept {
  static const std::vector<OptionSpec> table = [] {
    static std::vector<std::string_view> names;
    for (const LayoutTraits& layout : layouts()) {
      names.push_back(layout.name);
    }
    std::vector<OptionSpec> all = with_remote_options(own_table);
    all.insert(all.begin(), {.name = "layout",
                             .metavar = "NAME",
                             .help = "read TRIAL as this layout, whatever else lies there",
                             .group = group::reading,
                             .kind = ArgumentKind::choice,
                             .choices = names});
    all.insert(all.begin() + 1, {.name = "step-name",
                                 .metavar = "NAME",
                                 .help = "of W&B, CSV and JSON lines: the name whose values are the steps",
                                 .group = group::reading,
                                 .kind = ArgumentKind::text,
                                 .manual = "Take the values of NAME as steps: a column of a CSV, a name in JSON lines "
                                           "or in a W&B run; _step is W&B's own step. By default it is the first of "
                                           "the names that smd-trial(5) lists."});
    return all;
  }();
  return table;
}

ReadingOptions ReadingOptions::from(const CommandLine& line) {
  ReadingOptions options;
  const auto jobs = line.convert("jobs", [](const std::string& text) { return parse_integer(text, 1, 1024); });
  options.jobs = static_cast<unsigned>(jobs.value_or(0));
  options.verify = !line.has("no-verify");
  const bool only = line.has("superseded");
  const bool included = line.has("with-superseded");
  options.superseded = only ? Superseded::only : included ? Superseded::included : Superseded::left_out;
  if (only && included) {
    throw UsageError("--superseded shows nothing but superseded values, --with-superseded all: one at a time");
  }
  if ((only || included) && line.has("follow")) {
    throw UsageError(std::string(only ? "--superseded" : "--with-superseded") +
                     " and --follow: what comes counts when it comes; leave out one of the two");
  }
  options.layout = line.value("layout").value_or(std::string());
  options.step_name = line.value("step-name").value_or(std::string());
  options.remote = remote_options(line);
  options.remote.cache = line.value("cache").value_or(std::string());
  return options;
}

TrialOptions ReadingOptions::trial_options(const StepRange& range) const {
  TrialOptions options;
  options.layout = layout;
  options.step_name = step_name;
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
