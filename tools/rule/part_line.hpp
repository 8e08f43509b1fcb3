// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "cli/exit_status.hpp"
#include "cli/shard.hpp"
#include "requests/requests.hpp"

namespace smd::tool::rule {

/// The last of the JSON lines of a part. Its presence shows --merge that nothing was cut off.
struct PartLine {
  Shard shard;
  std::uint64_t trials = 0;             ///< Of the whole,
  bool several = false;                 ///< and whether its reports name them.
  std::string whole = {};               ///< The same for all parts of one whole: see `digest_of`.
  std::uint64_t records = 0;            ///< The lines ahead of this one.
  ExitStatus status = ExitStatus::yes;  ///< Of the part.
};

/// The line, without its end.
[[nodiscard]] std::string to_json(const PartLine& part);

/// A digest that distinguishes wholes by their trials and rules: 16 hexadecimal digits, of no other meaning.
[[nodiscard]] std::string digest_of(std::span<const std::string> trials, const std::vector<RuleRequest>& requests);

}  // namespace smd::tool::rule
