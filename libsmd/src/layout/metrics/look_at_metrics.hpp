// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "layout/forward_reader.hpp"
#include "layout/layout_kind.hpp"
#include "layout/metrics/metric_text.hpp"
#include "layout/series_rows.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace smd::detail::layout {

/// Names of logs in a folder. The first of them counts; the last three only if they are JSON lines.
inline constexpr std::array<std::string_view, 8> metric_log_names = {
    "metrics.csv",       "results.csv",   "progress.csv", "metrics.jsonl",
    "trainer_log.jsonl", "logging.jsonl", "metrics.json", "scalars.json"};
inline constexpr std::size_t first_doubtful_log = 5;

/// A column of a CSV, or a name in JSON lines.
struct MetricColumn {
  enum class Role : std::uint8_t { tensor, epoch, wall_time, nothing };
  Role role = Role::tensor;
  std::optional<std::size_t> rank = {};  ///< `rank_of_step_name`
  std::uint64_t numbers = 0;
  std::uint64_t texts = 0;
  std::uint32_t next = no_id;    ///< The one that followed last time.
  std::uint32_t series = no_id;  ///< Its id in the table of series, once it had a number.
};

/// The numbers of a series that were returned: how many, and hashes of them and their steps.
struct ReturnedNumbers {
  std::uint64_t count = 0;
  Fnv hash;
  std::vector<std::uint64_t> marks;  ///< What `hash` was after 1, 2, 4, 8 ... of them.

  void add(std::int64_t step, std::uint64_t bits) {
    ++count;
    hash.add(static_cast<std::uint64_t>(step));
    hash.add(bits);
    if (std::has_single_bit(count)) {
      marks.push_back(hash.value);
    }
  }
  /// Returns whether these are the first of `all`, as far as the hashes tell.
  [[nodiscard]] bool begin(const ReturnedNumbers& all) const {
    return count > all.count || (std::has_single_bit(count) ? marks.back() == all.marks[marks.size() - 1]
                                                            : count != all.count || hash.value == all.hash.value);
  }
};

struct MetricCursor : SeriesCursor, GrowingFile {  // up to the first row that was not read
  std::optional<MetricForm> form;
  bool took_rest = false;  ///< A last line without its end was taken.
  SeriesTable table;
  std::vector<ReturnedNumbers> returned;  ///< By id of the name.
  NameTable names;
  std::vector<MetricColumn> columns;  ///< By id in `names`.
  std::vector<std::uint32_t> header;  ///< Of a CSV: the ids of its columns; `no_id`: a later one has its name.
  char separator = ',';
  bool step_chosen = false;  ///< Not before a header, or a row with a number or a step.
  std::optional<std::uint32_t> step_column;
  std::map<std::string, std::uint64_t> fractions;  ///< Columns that are no steps, and where the first fraction is.
  bool keeps_step = false;                         ///< A row whose step has a fraction is damaged: few have one.
  std::set<std::string> step_names;                ///< Of JSON lines: those from which that of the step was chosen.
  std::set<std::string> equal_names;               ///< Of a CSV's header.
  bool new_run = false;                            ///< The next row begins one.
  std::uint64_t rows = 0;                          ///< Of the run.
  std::uint64_t all_rows = 0;
  std::uint64_t skipped = 0;       ///< Rows without a step.
  std::uint64_t contradicted = 0;  ///< Rows whose step has a fraction.
  std::optional<std::int64_t> last_step;
  std::optional<double> last_epoch;
  ProblemList problems{limits::problems_per_file};
  std::optional<Problem> rest;  ///< What is said of the end of the file.
};

/// Immutable once shared.
class MetricListing final : public SeriesListing {
 public:
  [[nodiscard]] std::string path(const StepPart& /*file*/) const override { return cursor->path; }

  std::shared_ptr<const MetricCursor> cursor;
};

/// `Layout::look` for metric logs.
[[nodiscard]] Outcome<Found> look_at_metrics(storage::Storage& storage, const LookRequest& request,
                                             const Opening& place, const MetricListing* before,
                                             std::shared_ptr<const CollectionsInfo> collections);

}  // namespace smd::detail::layout
