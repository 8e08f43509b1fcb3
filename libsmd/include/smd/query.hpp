// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smd/step.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smd {

/// Selects tensors that meet every given condition. `names`, `regex` and `collections` are one condition, as in rules:
/// a tensor meets it if any of the three selects it. If none of the three is given, every tensor meets it.
struct TensorQuery {
  std::optional<StepKey> step = {};           ///< Only tensors saved at this step.
  std::optional<Mode> mode = {};              ///< Only tensors saved in this mode.
  std::vector<std::string> names = {};        ///< Exact names; names that were not saved are ignored.
  std::vector<std::string> regex = {};        ///< Found anywhere in the name, as Python `re.search`.
  std::vector<std::string> collections = {};  ///< Members, by name or by the collection's own patterns.
  std::vector<std::string> exclude = {};      ///< Drop names in which one of these patterns is found.
  bool superseded = false;                    ///< Only tensors with superseded values, whatever the trial shows.
};

/// What arrived between two refreshes of a trial whose files grow, as a range of arrival numbers, both ends included.
struct Arrivals {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;

  bool operator==(const Arrivals&) const = default;
};

/// Selects entries by tensor, step, mode and worker.
struct EntryQuery {
  std::vector<std::string> tensors = {};              ///< Exact names; empty: all.
  std::optional<std::vector<GlobalStep>> steps = {};  ///< Ascending; nullopt: all steps in range.
  std::optional<Mode> mode = {};                      ///< Only steps of this mode; `global` or nullopt: all.
  std::vector<std::string> workers = {};              ///< Empty: all. See also `first_worker_only`.
  bool first_worker_only = false;                     ///< Per tensor and step, only the first worker by name.
  bool include_incomplete = false;
  bool superseded = false;  ///< The superseded values, whatever the trial shows.
  Arrivals arrivals = {};   ///< Only what arrived then, as `FollowEvent::arrivals` gives it.
};

}  // namespace smd
