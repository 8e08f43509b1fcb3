// SPDX-License-Identifier: Apache-2.0
#include "shard.hpp"

#include "cli/command_line.hpp"
#include "cli/text.hpp"

#include <cstdlib>
#include <optional>

namespace smd::tool::reduce {

namespace {

constexpr std::int64_t most_shards = 1'000'000;

std::optional<std::int64_t> number_from(const char* variable) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') {
    return std::nullopt;
  }
  try {
    return parse_integer(text, 0, std::int64_t{1} << 53);
  } catch (const InvalidValue& error) {
    throw InvalidValue(std::string(variable) + ": " + error.what());
  }
}

Shard checked(std::int64_t index, std::int64_t count, const std::string& where) {
  if (index < 1 || index > count || count > most_shards) {
    throw InvalidValue("part " + std::to_string(index) + " of " + std::to_string(count) + ", as " + where +
                       " has it, is not between 1 and the number of parts");
  }
  return {static_cast<std::uint64_t>(index), static_cast<std::uint64_t>(count)};
}

// Of several places, the innermost: tasks of a step, then members of an array.
Shard from_environment(std::optional<std::int64_t> size) {
  const auto tasks = number_from("SLURM_NTASKS");
  if (const auto task = number_from("SLURM_PROCID"); task && tasks && *tasks > 1) {
    return checked(*task + 1, size.value_or(*tasks), "SLURM_PROCID");
  }
  if (const auto member = number_from("SLURM_ARRAY_TASK_ID")) {
    const auto members = number_from("SLURM_ARRAY_TASK_COUNT");
    if (!members && !size) {
      throw InvalidValue("SLURM_ARRAY_TASK_COUNT is not set; say auto/N");
    }
    const std::int64_t first = number_from("SLURM_ARRAY_TASK_MIN").value_or(1);
    return checked(*member - first + 1, size.value_or(members.value_or(0)), "SLURM_ARRAY_TASK_ID");
  }
  if (const auto member = number_from("AWS_BATCH_JOB_ARRAY_INDEX")) {
    const auto members = number_from("AWS_BATCH_JOB_ARRAY_SIZE");
    if (!members && !size) {
      throw InvalidValue("AWS_BATCH_JOB_ARRAY_SIZE is not set; say auto/N, N being the array's size");
    }
    return checked(*member + 1, size.value_or(members.value_or(0)), "AWS_BATCH_JOB_ARRAY_INDEX");
  }
  if (const auto task = number_from("SLURM_PROCID"); task && tasks) {
    return checked(*task + 1, size.value_or(*tasks), "SLURM_PROCID");
  }
  throw InvalidValue(
      "none of SLURM_PROCID with SLURM_NTASKS, SLURM_ARRAY_TASK_ID, AWS_BATCH_JOB_ARRAY_INDEX is set; say I/N");
}

}  // namespace

Shard Shard::parse(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string first = text.substr(0, slash);
  std::optional<std::int64_t> count;
  if (slash != std::string::npos) {
    count = parse_integer(std::string_view(text).substr(slash + 1), 1, most_shards);
  }
  if (first == "auto") {
    return from_environment(count);
  }
  if (!count) {
    throw InvalidValue(tool::quoted(text) + " is neither I/N nor auto nor auto/N");
  }
  return {static_cast<std::uint64_t>(parse_integer(first, 1, *count)), static_cast<std::uint64_t>(*count)};
}

std::pair<std::size_t, std::size_t> Shard::range(std::size_t things) const noexcept {
  const std::size_t each = things / count;
  const std::size_t more = things % count;  // the first so many parts have one more
  const auto start = [&](std::uint64_t part) { return part * each + (part < more ? part : more); };
  return {start(index - 1), start(index)};
}

}  // namespace smd::tool::reduce
