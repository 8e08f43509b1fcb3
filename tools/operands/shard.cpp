// SPDX-License-Identifier: Apache-2.0
#include "operands/shard.hpp"

#include "cli/command_line.hpp"
#include "cli/text.hpp"
#include "text/environment.hpp"

#include <optional>

namespace smd::tool {

namespace {

/// A number that a scheduler left in the environment; nullopt if there is none.
std::optional<std::int64_t> scheduler_number(const char* variable) {
  const auto value = text::environment(variable);
  try {
    return value ? std::optional(parse_integer(*value, 0, std::int64_t{1} << 53)) : std::nullopt;
  } catch (const InvalidValue& error) {
    throw InvalidValue(std::string(variable) + ": " + error.what());
  }
}

Shard checked_shard(std::int64_t index, std::int64_t count, const std::string& where) {
  invalid_if(index < 1 || index > count || count > most_shards,
             "part " + std::to_string(index) + " of " + std::to_string(count) + ", as " + where +
                 " has it, is not between 1 and the number of parts");
  return {static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(count)};
}

/// The number of parts; the user and the scheduler must agree on it.
std::int64_t agreed_count(std::optional<std::int64_t> asked, std::optional<std::int64_t> told,
                          const std::string& variable) {
  invalid_if(!asked && !told, variable + " is not set; say auto/N, N being the number of parts");
  if (asked && told && *asked != *told) {
    throw InvalidValue(variable + " is " + std::to_string(*told) + ", not " + std::to_string(*asked) +
                       ": say I/N for parts that are run again by themselves");
  }
  return asked.value_or(told.value_or(0));
}

Shard slurm_member(std::int64_t member, std::optional<std::int64_t> size) {
  const std::int64_t first = scheduler_number("SLURM_ARRAY_TASK_MIN").value_or(1);
  const std::int64_t stride = scheduler_number("SLURM_ARRAY_TASK_STEP").value_or(1);
  invalid_if(first > 1, "the Slurm array begins with " + std::to_string(first) +
                            ", not with 0 or 1: say I/N for parts that are run again by themselves");
  const std::int64_t count = agreed_count(size, scheduler_number("SLURM_ARRAY_TASK_COUNT"), "SLURM_ARRAY_TASK_COUNT");
  return checked_shard((member - first) / (stride > 0 ? stride : 1) + 1, count, "SLURM_ARRAY_TASK_ID");
}

Shard shard_from_environment(std::optional<std::int64_t> size) {
  const auto task = scheduler_number("SLURM_PROCID");
  // Not SLURM_NTASKS: a batch script has it too, and runs once, whatever it says.
  const auto tasks = scheduler_number("SLURM_STEP_NUM_TASKS");
  if (task && tasks && *tasks > 1) {
    return checked_shard(*task + 1, agreed_count(size, tasks, "the number of tasks of the Slurm step"), "SLURM_PROCID");
  }
  if (const auto member = scheduler_number("SLURM_ARRAY_TASK_ID")) {
    return slurm_member(*member, size);
  }
  if (const auto member = scheduler_number("AWS_BATCH_JOB_ARRAY_INDEX")) {
    return checked_shard(*member + 1,
                         agreed_count(size, scheduler_number("AWS_BATCH_JOB_ARRAY_SIZE"), "AWS_BATCH_JOB_ARRAY_SIZE"),
                         "AWS_BATCH_JOB_ARRAY_INDEX");
  }
  if (const auto job = scheduler_number("PARALLEL_SEQ")) {
    invalid_if(!size, "GNU parallel does not tell how many jobs there are; say auto/N");
    return checked_shard(*job, *size, "PARALLEL_SEQ");
  }
  if (task) {
    return checked_shard(*task + 1, agreed_count(size, 1, "the number of tasks of the Slurm step"), "SLURM_PROCID");
  }
  throw InvalidValue(
      "none of SLURM_PROCID, SLURM_ARRAY_TASK_ID, AWS_BATCH_JOB_ARRAY_INDEX, PARALLEL_SEQ is set; say I/N");
}

}  // namespace

Shard Shard::parse(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string first = text.substr(0, slash);
  const auto count = slash == std::string::npos
                         ? std::nullopt
                         : std::optional(parse_integer(std::string_view(text).substr(slash + 1), 1, most_shards));
  if (first == "auto") {
    return shard_from_environment(count);
  }
  invalid_if(!count, single_quoted(text) + " is neither I/N nor auto nor auto/N");
  return {static_cast<std::uint64_t>(parse_integer(first, 1, *count)), static_cast<std::uint64_t>(*count)};
}

std::pair<std::size_t, std::size_t> Shard::range(std::size_t things) const noexcept {
  const std::size_t each = things / count;
  const std::size_t more = things % count;  // the first `more` parts have one more
  const auto start = [&](std::uint64_t part) { return part * each + (part < more ? part : more); };
  return {start(index - 1), start(index)};
}

std::string parts_text(const std::vector<std::uint64_t>& parts, std::uint64_t count) {
  const std::string numbers = text::listed(parts, 5, [](std::uint64_t part) { return std::to_string(part); });
  return (parts.size() == 1 ? "part " : "parts ") + numbers + " of " + std::to_string(count);
}

}  // namespace smd::tool
