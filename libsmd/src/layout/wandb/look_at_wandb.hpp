// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/forward_reader.hpp"
#include "layout/layout_kind.hpp"
#include "layout/series_rows.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smd::detail::layout {

/// One run file, up to where it was read.
struct WandbFile : GrowingFile {          // up to the first chunk that was not read
  bool skipping = false;                  ///< `RunFileReader::skipping`
  std::optional<std::int64_t> exit_code;  ///< The run ended.
};

/// What is known of a name besides its values.
struct WandbFacts {
  enum class Role : std::uint8_t { tensor, timestamp, own_step, nothing };
  Role role = Role::tensor;
  std::size_t rank = 0;       ///< In `global_step_names`; as great as their number for other names.
  bool text = false;          ///< It had a text as a value: its nulls are no numbers until one came.
  bool number = false;        ///< An earlier reading found numbers: its nulls are NaN.
  bool left_out = false;      ///< Nulls were left out: no number had come yet.
  bool known_whole = false;   ///< `whole` was asked for.
  bool loss = false;          ///< It is the name of a loss.
  bool whole = false;         ///< Its numbers are int64.
  bool beyond = false;        ///< It had a whole number that no double has.
  bool real = false;          ///< It had a number that is not whole.
  bool contradicted = false;  ///< That it is `whole`, or not, was said to be wrong.
  bool system = false;        ///< It had a system metric.
  std::uint64_t nulls = 0;
  std::uint64_t texts = 0;  ///< Values that are no numbers.
};

inline constexpr std::array<std::string_view, 3> global_step_names = {"trainer/global_step", "train/global_step",
                                                                      "global_step"};

/// What could be the step of all records: a name.
struct StepCandidate {
  std::uint64_t records = 0;
  bool in_all_losses = true;  ///< It is in every record that has a loss,
  bool in_all = true;         ///< that has a tensor.
  bool left_out = false;      ///< Its values were, before it was known which name is the step.
};

/// System metrics whose step is not yet known.
struct SystemMetric {
  std::string name;
  double value = 0;
};

struct WandbCursor : SeriesCursor {
  std::vector<WandbFile> files;
  SeriesTable table;
  std::vector<WandbFacts> facts;  ///< By id of the name. `table` has all names, also those of no tensors.
  // Choices about the whole run:
  std::optional<std::string> step_name;  ///< Empty: the SDK's own; nullopt: not yet known, and there are no rows.
  std::map<std::string, bool> whole;     ///< Names with numbers, and whether these are int64.
  std::array<StepCandidate, global_step_names.size()> candidates;
  bool has_losses = false;
  bool had_step = false;           ///< A record had the step of that name.
  bool waits = false;              ///< For such a record: all is read again when a file changes.
  std::uint64_t without_step = 0;  ///< Records that contradict the choice of the step.
  std::uint64_t fractions = 0;     ///< Of these: they have the name, but no whole number.
  std::uint64_t records = 0;       ///< Of history.
  std::optional<std::int64_t> last_step;
  std::uint64_t media = 0;
  std::vector<std::pair<double, std::int64_t>> times;  ///< When the last steps began. Both ascend.
  std::uint32_t newest_file = 0;                       ///< That of the newest of these steps.
  std::vector<std::uint32_t> system_metrics;           ///< Ids of names.
  using Pending = std::multimap<double, SystemMetric>;
  Pending pending;               ///< By time; those that may belong to the next step, too.
  std::size_t placed_early = 0;  ///< So many were pending when all were placed; until the next step begins.

  [[nodiscard]] bool keeps_back() const noexcept { return pending.size() != placed_early && !times.empty(); }
};

using WandbListing = ListingOf<WandbCursor>;

/// `Layout::look` for run files of W&B.
[[nodiscard]] Outcome<Found> look_at_wandb(storage::Storage& storage, const LookRequest& request, const Opening& place,
                                           const WandbListing* before,
                                           std::shared_ptr<const CollectionsInfo> collections);

}  // namespace smd::detail::layout
