// SPDX-License-Identifier: Apache-2.0
#include "operands/reading_options.hpp"

#include "cli/exit_status.hpp"
#include "cli/interruption.hpp"
#include "cli/mapped.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace smd::tool {

namespace {

constexpr auto superseded_options =
    in_group(group::selection,
             {
                 flag(no_letter, "superseded", "show superseded values instead: those that later ones replaced")
                     .explained("Show superseded values instead: those that later ones of a log directory replaced, "
                                "because a restarted job wrote its steps again, or because one step was written "
                                "several times. Equal steps stand in the order in which they were written; the column "
                                "wall_time of smd-tensor tells them apart. smd-ls --summary counts them."),
                 flag(no_letter, "with-superseded",
                      "show superseded values too; the last column, superseded, tells which they are")
                     .explained("Show all values, also those that --superseded shows. If each row is of one value, the "
                                "last column, superseded, is true for those."),
             });

constexpr std::string_view s3_group = "Trials on S3";
constexpr std::array<std::string_view, 1> payers = {"requester"};

constexpr auto remote_table = in_group(
    s3_group, {
                  valued(no_letter, "endpoint-url", "URL", ArgumentKind::text, "ask this server instead of AWS"),
                  valued(no_letter, "region", "REGION", ArgumentKind::text,
                         "the region of the buckets (default: as the AWS CLI, else determined automatically)"),
                  valued(no_letter, "profile", "NAME", ArgumentKind::text,
                         "profile of the AWS configuration files whose credentials to use"),
                  flag(no_letter, "no-sign-request", "ask without credentials, for public buckets"),
                  valued(no_letter, "request-payer", "WHO", ArgumentKind::choice,
                         "requester: pay for requests to a Requester Pays bucket")
                      .of(payers),
              });

/// The message does not repeat a refused URL, which may hold a password or a signature.
std::string parse_endpoint_url(const std::string& url) {
  std::string_view rest(url);
  for (const std::string_view scheme : {"http://", "https://"}) {
    rest.remove_prefix(rest.starts_with(scheme) ? scheme.size() : 0);
  }
  const bool has_host = rest.size() < url.size() && !rest.empty() && rest.front() != '/';
  const bool plain = std::ranges::none_of(rest, [](char c) {
    return std::string_view("?#@ ").find(c) != std::string_view::npos || static_cast<unsigned char>(c) < ' ' ||
           c == 0x7F;
  });
  invalid_if(!url.empty() && !(has_host && plain),
             "not an http:// or https:// URL of a host without user, query and fragment");
  return url;
}

}  // namespace

std::span<const OptionSpec> ReadingOptions::superseded_table() noexcept { return superseded_options; }

std::span<const OptionSpec> ReadingOptions::table() noexcept {
  static const std::vector<std::string_view> names = mapped(layouts(), &LayoutTraits::name);
  static const std::vector<OptionSpec> table = with_remote_options(in_group(
      group::reading,
      {
          valued(no_letter, "layout", "NAME", ArgumentKind::choice,
                 "read TRIAL as this layout, whatever else lies there")
              .of(names),
          valued(no_letter, "step-name", "NAME", ArgumentKind::text,
                 "of W&B, CSV and JSON lines: the name whose values are the steps")
              .explained("Take the values of NAME as steps: a column of a CSV, a name in JSON lines or in a W&B run; "
                         "_step is W&B's own step. By default it is the first of the names that smd-trial(5) lists."),
          valued('j', "jobs", "N", ArgumentKind::number,
                 "threads (default: one for each CPU); on S3, requests at once (default: 32)"),
          flag(no_letter, "no-verify", "do not check the checksums of records"),
          valued(no_letter, "cache", "DIR", ArgumentKind::folder,
                 "keep what was read from S3 in DIR (default: SMD_CACHE_DIR, else nothing is kept)")
              .explained(
                  "Keep what was read from S3 in DIR (default: SMD_CACHE_DIR, else nothing is kept), by its ETag, up "
                  "to 1 GiB; any number of commands may share it. DIR is made, or is an empty folder, or one that this "
                  "option made before: it then holds the file CACHEDIR.TAG. Any other folder is a usage error, and "
                  "nothing in it is touched. Only files with names of the cache's own form are removed."),
      }));
  return table;
}

ReadingOptions ReadingOptions::from(const CommandLine& line) {
  ReadingOptions options;
  options.jobs = static_cast<unsigned>(line.integer("jobs", 1, 1024).value_or(0));
  options.verify = !line.has("no-verify");
  const bool only = line.has("superseded");
  const bool included = line.has("with-superseded");
  options.superseded = only ? Superseded::only : included ? Superseded::included : Superseded::left_out;
  refuse_if(only && included, "--superseded shows nothing but superseded values, --with-superseded all: one at a time");
  refuse_if((only || included) && line.has("follow"),
            std::string(only ? "--superseded" : "--with-superseded") +
                " with --follow: a value that just came is not superseded yet; leave out one of the two");
  options.layout = line.value("layout").value_or(std::string());
  options.step_name = line.value("step-name").value_or(std::string());
  options.remote = remote_options(line);
  options.remote.cache = line.value("cache").value_or(std::string());
  return options;
}

TrialOptions ReadingOptions::trial_options(const StepRange& range, std::optional<unsigned> threads) const {
  return {.layout = layout,
          .step_name = step_name,
          .range_steps = range,
          .jobs = threads.value_or(jobs),
          .verify = verify,
          .as_it_stands = true,
          .superseded = superseded,
          .auto_refresh = false,
          .remote = remote};
}

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
  refuse_if(options.requester_pays && !options.sign_requests,
            "--request-payer: who pays must be known, which --no-sign-request leaves out");
  return options;
}

void say_remote(RemoteOptions& options, Diagnostics& messages) { options.log = messages.sink(); }

}  // namespace smd::tool
