// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sorted_chunks.hpp"
#include "layout/forward_reader.hpp"
#include "layout/layout_kind.hpp"
#include "layout/metrics/metric_text.hpp"
#include "layout/series_rows.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace smd::detail::layout {

/// A column of a CSV, or a name in JSON lines.
struct MetricColumn {
  enum class Role : std::uint8_t { tensor, epoch, wall_time, nothing };
  Role role = Role::tensor;
  std::optional<std::size_t> rank = {};  ///< `rank_of_step_name`
  std::uint64_t numbers = 0;             ///< Also of a column that is no tensor, and steps as `3/50`.
  std::uint64_t texts = 0;
  std::uint64_t fractions = 0;       ///< Rows of which it is the step, and no whole number,
  std::uint64_t first_fraction = 0;  ///< and where the first of them is.
  std::uint64_t again = 0;           ///< Numbers at the step of the number before.
  std::uint64_t others = 0;          ///< Of these: numbers that differ from the one before, and supersede it.
  std::uint64_t lost = 0;            ///< Of these: numbers that supersede NaN or an infinity.
  std::int64_t last_step = 0;        ///< The greatest before a number that is not at a later step.
  double back = 0;                   ///< The most steps that were gone back to a number that differs.
  /// The step and a hash of the last text. Texts that differ are counted as numbers are, in `others` and `back`.
  std::optional<std::pair<std::int64_t, std::size_t>> last_text = {};
  std::uint32_t next = no_id;    ///< The one that followed last time.
  std::uint32_t series = no_id;  ///< Its id in the table of series, once it had a number.
};

/// The numbers of a series that were returned: how many, and hashes of them and their steps.
struct ReturnedNumbers {
  std::uint64_t count = 0;
  Fnv hash;
  GrowingColumn<std::uint64_t> marks;  ///< What `hash` was at first after each, later after each eighth, then 64th.

  void add(std::int64_t step, std::uint64_t bits) {
    ++count;
    hash.add(static_cast<std::uint64_t>(step));
    hash.add(bits);
    if (is_marked()) {
      marks.push_back(hash.value);
    }
  }
  [[nodiscard]] bool is_marked() const { return count < 8 || count % (count < 512 ? 8 : 64) == 0; }
  /// Returns whether these are the first of `all`, as far as the hashes tell.
  [[nodiscard]] bool begin(const ReturnedNumbers& all) const {
    return count > all.count || (is_marked() ? marks[marks.size() - 1] == all.marks[marks.size() - 1]
                                             : count != all.count || hash.value == all.hash.value);
  }
};

using ReturnedByName = std::map<std::string, ReturnedNumbers, std::less<>>;

/// Choices about the whole file. They are made at its first row, and are right unless the file shows more.
struct MetricChoices {
  std::map<std::string, std::uint64_t> fractions;  ///< Columns that are no steps, and where the first fraction is.
  std::set<std::string> step_names;                ///< Of JSON lines: those from which that of the step was chosen.
  bool keeps_step = false;                         ///< A row whose step has a fraction is damaged: few have one.
};

struct MetricCursor : SeriesCursor, GrowingFile {  // up to the first row that was not read
  FileBytes tail;  ///< The last ones before `offset`: writers rewrite the end of a log, too.
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
  std::optional<std::uint64_t> late_step;  ///< The row of JSON lines with the first step, behind rows without one.
  MetricChoices choices;
  std::set<std::string> equal_names;  ///< Of a CSV's header.
  bool new_run = false;               ///< The next row begins one.
  std::uint64_t rows = 0;             ///< Of the run.
  std::uint64_t all_rows = 0;         ///< Of all runs, but none of nulls alone.
  std::uint64_t skipped = 0;          ///< Rows without a step.
  std::uint64_t contradicted = 0;     ///< Rows whose step has a fraction.
  std::optional<std::int64_t> last_step;
  std::optional<double> last_epoch;
  /// Of a log that is written anew, and has less than was returned: its stamp, and since when it is as it is.
  std::optional<storage::FileStamp> anew;
  std::optional<std::chrono::steady_clock::time_point> anew_since;
  /// How often a log was written anew with other rows, so that all of them came again, and from which step the last
  /// time.
  std::uint64_t rewritings = 0;
  std::int64_t again_from = 0;
};

/// Whether a log that was written anew has the numbers that earlier looks returned.
enum class Again : std::uint8_t { all, some, others };

struct MetricRows {
  Found found;                       ///< Without a listing.
  bool began_with_fraction = false;  ///< What seemed to be the step had a fraction before any step came.
  Again again = Again::all;
  bool failed = false;    ///< A read failed: what follows was not taken.
  bool is_other = false;  ///< Other bytes stand before the cursor than were read: nothing was taken.
};

/// Reads what is new of a log, and moves its cursor. Returns why the file is refused. `returned`: the numbers that
/// earlier looks returned, if the log is read from the beginning again. `collections`: those of the look before.
[[nodiscard]] Outcome<MetricRows> read_metric_rows(const storage::File& file, MetricCursor& cursor,
                                                   const LookRequest& request, const Opening& place,
                                                   const ReturnedByName& returned,
                                                   std::shared_ptr<const CollectionsInfo> collections);

}  // namespace smd::detail::layout
