// SPDX-License-Identifier: Apache-2.0
#include "cli/environment.hpp"

#include "cli/text.hpp"
#include "text/environment.hpp"
#include "text/number.hpp"

#include <array>
#include <cstddef>

namespace smd::tool {

namespace {

// smd-diff and smd-save do not wait.
constexpr std::string_view waiting = "ls tensor reduce rule wait report runs";
constexpr std::string_view sharding = "reduce rule";
constexpr std::string_view on_s3 = "ls tensor reduce rule wait diff report runs save";

constexpr std::array<EnvironmentVariable, 25> variables = {{
    {"NO_COLOR", "If not empty, nothing is coloured, unless --color=always says so."},
    {"TERM", "If it is dumb, nothing is coloured, unless --color=always says so."},
    {"LC_ALL, LC_CTYPE, LANG",
     "The first that is not empty tells whether the terminal understands UTF-8. If it does not, tables, pictures and "
     "messages are ASCII, as with --ascii. Nothing else depends on the locale: numbers always have a point, and names "
     "are sorted by their bytes."},
    {"COLUMNS", "The width of help texts and pictures where the output is no terminal; default 80."},
    {"SMDEBUG_LOG_LEVEL",
     "Which messages are shown, as with the reference implementation: debug, info, warning (the default), error or "
     "off. off is as error: errors are always shown. -q and -v take precedence.",
     {},
     EnvironmentForm::level,
     "warning"},
    {"SMDEBUG_LOG_PATH", "A file to which messages are also appended."},
    {"SMDEBUG_INCOMPLETE_STEP_WAIT_WINDOW",
     "How many steps after the last complete one may be incomplete; of more, the oldest, half as many as this, count "
     "as complete. Default 1000.",
     {},
     EnvironmentForm::count,
     "1000"},
    {"SMDEBUG_TRAINING_END_DELAY_REFRESH",
     "While waiting: for how many seconds nothing may have changed after the job's end marker appeared, before missing "
     "data counts as never saved; default 1.",
     waiting, EnvironmentForm::seconds, "1"},
    {"SMDEBUG_MISSING_EVENT_FILE_RETRY_LIMIT",
     "While waiting: how often to look again for an event file that an index file names and that is not there; default "
     "100.",
     waiting, EnvironmentForm::count, "100"},
    {"SMD_CACHE_DIR", "A folder that keeps what was read of trials on S3, as with --cache.", on_s3},
    {"AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN", "Credentials for S3. They never come from options.",
     on_s3},
    {"AWS_PROFILE, AWS_DEFAULT_PROFILE", "The profile in the AWS files; --profile takes precedence.", on_s3},
    {"AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE", "The AWS files; by default ~/.aws/config and ~/.aws/credentials.",
     on_s3},
    {"AWS_WEB_IDENTITY_TOKEN_FILE, AWS_ROLE_ARN, AWS_ROLE_SESSION_NAME",
     "A role to assume with the token in a file, as pods of Kubernetes are given them (IAM roles for service "
     "accounts). Keys in the environment take precedence, and so does --profile.",
     on_s3},
    {"AWS_REGION, AWS_DEFAULT_REGION", "The region; --region takes precedence.", on_s3},
    {"AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_URL_SAGEMAKER, AWS_ENDPOINT_URL, "
     "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
     "Where services are reached, in place of AWS's own addresses: those of one service, of all, and whether they are "
     "to be disregarded (true). --endpoint-url takes precedence.",
     on_s3},
    {"AWS_USE_FIPS_ENDPOINT",
     "true: AWS is reached at its endpoints with cryptography validated by FIPS 140. Configured endpoints take "
     "precedence.",
     on_s3},
    {"AWS_CA_BUNDLE", "A file of certificates to trust, in place of the system's.", on_s3},
    {"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI, AWS_CONTAINER_CREDENTIALS_FULL_URI, AWS_CONTAINER_AUTHORIZATION_TOKEN, "
     "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE, AWS_EC2_METADATA_DISABLED, AWS_EC2_METADATA_SERVICE_ENDPOINT",
     "Where credentials come from in a container or on an instance of EC2.", on_s3},
    {"AWS_MAX_ATTEMPTS", "How often a request is tried; default 3.", on_s3},
    {"SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT, SLURM_ARRAY_TASK_MIN, "
     "SLURM_ARRAY_TASK_STEP",
     "The place among the tasks of a Slurm step or the members of a Slurm array, for --shard auto.", sharding},
    {"AWS_BATCH_JOB_ARRAY_INDEX, AWS_BATCH_JOB_ARRAY_SIZE", "The place in an AWS Batch array job, for --shard auto.",
     sharding},
    {"PARALLEL_SEQ", "The number of a job of GNU parallel, for --shard auto/N.", sharding},
    {"SMDEBUG_CONFIG_FILE_PATH", "The hook configuration that decides what is saved, if --config does not name one.",
     "save"},
    {"USE_SMDEBUG", "If it is 0, off, no, n or false, in any case of letters, nothing is saved, and a warning says so.",
     "save"},
}};

/// What a value should be; empty if it is valid. Accepts what `trial/trial_state.cpp` accepts.
std::string_view wanted(EnvironmentForm form, const char* value) {
  switch (form) {
    case EnvironmentForm::text:
      return {};
    case EnvironmentForm::level:
      return parse_level(value) ? "" : "debug, info, warning, error or off";
    case EnvironmentForm::count:
      return text::parsed<std::size_t>(value) ? "" : "a whole number from 0";
    case EnvironmentForm::seconds: {
      const auto seconds = text::parsed<double>(value);
      return seconds && *seconds >= 0 && *seconds <= 1e9 ? "" : "a number of seconds from 0";
    }
  }
  return {};
}

}  // namespace

std::span<const EnvironmentVariable> environment_variables() noexcept { return variables; }

bool reads(std::string_view command, const EnvironmentVariable& variable) {
  return variable.commands.empty() || lists(variable.commands, command.substr(command.find('-') + 1));
}

void check_environment(std::string_view command, Diagnostics& messages) {
  for (const EnvironmentVariable& variable : variables) {
    if (variable.form == EnvironmentForm::text || !reads(command, variable)) {
      continue;
    }
    const std::string name(variable.name);
    const auto value = text::environment(name.c_str());
    const std::string_view form = value ? wanted(variable.form, value->c_str()) : std::string_view();
    if (!form.empty()) {
      messages.warning(name + ": " + single_quoted(*value) + " is not " + std::string(form) + "; " +
                       std::string(variable.fallback) + ", the default, is used");
    }
  }
}

}  // namespace smd::tool
