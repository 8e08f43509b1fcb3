// SPDX-License-Identifier: Apache-2.0
#include "parts_given.hpp"

#include <fmt/format.h>

#include "cli/errors.hpp"
#include "cli/text.hpp"

#include <algorithm>
#include <utility>

namespace smd::tool::rule {

namespace {

std::string name_of(const Shard& shard) { return fmt::format("part {} of {}", shard.index, shard.count); }

void check_same_whole(const ResultLines& one, const ResultLines& first) {
  const PartLine& part = *one.part;
  const PartLine& other = *first.part;
  if (part.shard.count != other.shard.count) {
    throw UsageError(
        fmt::format("{}: {}, but {} is {}", one.file, name_of(part.shard), first.file, name_of(other.shard)));
  }
  if (part.trials != other.trials || part.whole != other.whole) {
    throw UsageError(one.file + ": a part of other trials, or by other rules, than " + first.file);
  }
}

/// Reports the first missing parts for which there are trials, and how many trials are left out.
void report_missing(const std::vector<ResultLines>& parts, Diagnostics& messages) {
  constexpr std::size_t most_named = 5;
  const PartLine& any = *parts.front().part;
  std::vector<bool> there(any.shard.count);
  for (const ResultLines& one : parts) {
    there[one.part->shard.index - 1] = true;
  }
  std::size_t missing = 0;
  std::size_t trials = 0;
  std::string numbers;
  for (std::uint64_t i = 0; i < any.shard.count; ++i) {
    const auto [begin, end] = Shard{i + 1, any.shard.count}.range(any.trials);
    if (!there[i] && begin != end) {
      trials += end - begin;
      if (++missing <= most_named) {
        numbers += (numbers.empty() ? "" : ", ") + std::to_string(i + 1);
      }
    }
  }
  if (missing == 0) {
    return;
  }
  if (missing > most_named) {
    numbers += " and " + std::to_string(missing - most_named) + " more";
  }
  messages.fail("NotFound",
                fmt::format("no results of part{} {} of {}: nothing is known of {}", missing > 1 ? "s" : "", numbers,
                            any.shard.count, counted(trials, "trial")),
                ExitStatus::unreadable);
}

}  // namespace

std::vector<ResultLines> order_parts(std::vector<ResultLines> given, Diagnostics& messages) {
  const bool any = std::any_of(given.begin(), given.end(), [](const ResultLines& one) { return one.part.has_value(); });
  if (!any) {
    return given;
  }
  std::vector<ResultLines> parts;
  for (ResultLines& one : given) {
    if (!one.part) {
      messages.fail("Damaged",
                    fmt::format("{}: no line says of which part the last {} {}, which count{} for nothing: the command "
                                "that wrote it was ended, or was given no --shard",
                                one.file, counted(one.records, "record"), one.records == 1 ? "is" : "are",
                                one.records == 1 ? "s" : ""),
                    ExitStatus::damaged);
      continue;
    }
    if (!one.foreign && one.records != one.part->records) {
      messages.fail("Damaged",
                    fmt::format("{}: {} had {}, of which {} are there", one.file, name_of(one.part->shard),
                                counted(one.part->records, "record"), one.records),
                    ExitStatus::damaged);
    }
    parts.push_back(std::move(one));
  }
  for (const ResultLines& one : parts) {
    check_same_whole(one, parts.front());
  }
  std::stable_sort(parts.begin(), parts.end(), [](const ResultLines& a, const ResultLines& b) {
    return a.part->shard.index < b.part->shard.index;
  });
  const auto twice = std::adjacent_find(parts.begin(), parts.end(), [](const ResultLines& a, const ResultLines& b) {
    return a.part->shard == b.part->shard;
  });
  if (twice != parts.end()) {
    throw UsageError(fmt::format("{} is given twice: in {} and in {}", name_of(twice->part->shard), twice->file,
                                 std::next(twice)->file));
  }
  report_missing(parts, messages);
  return parts;
}

}  // namespace smd::tool::rule
