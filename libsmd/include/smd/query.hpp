// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smd {

/// Selects tensors and, where a step is given, asks who saved something then. All given conditions but `names`,
/// `regex` and `collections` narrow; these three unite, as in rules. None of the three: all tensors.
struct TensorQuery {
  std::optional<StepKey> step = {};           ///< Only tensors saved at this step.
  std::optional<Mode> mode = {};              ///< Only tensors saved in this mode.
  std::vector<std::string> names = {};        ///< Exact names; those not saved are silently absent.
  std::vector<std::string> regex = {};        ///< Found anywhere in the name, as Python `re.search`.
  std::vector<std::string> collections = {};  ///< Members, by name or by the collection's own patterns.
  std::vector<std::string> exclude = {};      ///< Drop names in which one of these patterns is found.
};

/// What came between two looks at a trial whose files grow: numbers of arrival, both included.
struct Arrivals {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;

  bool operator==(const Arrivals&) const = default;
};

/// Selects entries: what was saved of which tensor, when, by whom.
struct EntryQuery {
  std::vector<std::string> tensors = {};              ///< Exact names; empty: all.
  std::optional<std::vector<GlobalStep>> steps = {};  ///< Ascending; none: all steps covered.
  std::optional<Mode> mode = {};                      ///< Only steps of this mode; `global` or none: all.
  std::vector<std::string> workers = {};              ///< Empty: all. See also `first_worker_only`.
  bool first_worker_only = false;                     ///< Per tensor and step, only the first worker by name.
  bool include_incomplete = false;
  Arrivals arrivals = {};  ///< `FollowEvent::arrivals`: only what came then.
};

}  // namespace smd
