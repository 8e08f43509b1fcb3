// SPDX-License-Identifier: Apache-2.0
#include "parts_seen.hpp"

#include "cli/command_line.hpp"

#include <algorithm>

namespace smd::tool::reduce {

namespace {

std::string to_text(const ShardedSteps& steps) {
  return std::to_string(steps.count) + " steps, " + std::to_string(steps.first) + " to " + std::to_string(steps.last);
}

}  // namespace

void PartsSeen::add(const Shard& shard, const ShardedSteps& steps, std::size_t file) {
  if (parts_.empty()) {
    count_ = shard.count;
    steps_ = steps;
  } else if (shard.count != count_) {
    throw InvalidValue("a part of " + std::to_string(shard.count) + ", the first is one of " + std::to_string(count_));
  } else if (steps != steps_) {
    throw InvalidValue("a part of " + to_text(steps) + "; the first is of " + to_text(steps_) +
                       ": while a job runs, choose steps with -s that are there");
  }
  parts_.insert(shard.index);
  files_.insert(file);
}

std::vector<std::uint64_t> PartsSeen::missing(std::size_t files) const {
  std::vector<std::uint64_t> result;
  const std::uint64_t with_steps = std::min(count_, steps_.count);
  for (std::uint64_t part = 1; part <= with_steps; ++part) {
    if (!parts_.contains(part)) {
      result.push_back(part);
    }
  }
  const std::uint64_t without_rows = files - files_.size();
  const std::uint64_t without_steps = count_ - with_steps;
  if (result.size() + without_steps <= without_rows) {
    result.clear();
  }
  return result;
}

}  // namespace smd::tool::reduce
