// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <smd/trial.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/diagnostics.hpp"
#include "cli/output_file.hpp"
#include "options.hpp"
#include "rows/best_and_last.hpp"
#include "rows/cell.hpp"
#include "rows/row_writer.hpp"
#include "select/explanations.hpp"
#include "select/trial_times.hpp"

namespace smd::tool::runs {

/// What is known of one scalar of a run. Of several modes EVAL counts, else TRAIN.
struct ScalarFacts {
  std::optional<ScalarValue> last;      ///< Nullopt if it could not be read, or is not one number.
  std::optional<ScalarValue> least;     ///< Nullopt if no value is finite, or a doubted 0 would be it.
  std::optional<ScalarValue> greatest;  ///< Nullopt if no value is finite.
  bool doubted_zero = false;            ///< As `BestAndLast::doubted_zero`, of the least value.
  bool of_one_mode = false;             ///< Values of other modes are left out.
  bool is_loss = false;                 ///< It is in the collection `losses`.

  [[nodiscard]] const std::optional<ScalarValue>& best(bool is_least) const { return is_least ? least : greatest; }
  [[nodiscard]] Cell step_cell(bool is_least) const { return best(is_least) ? Cell(best(is_least)->step) : Cell(); }
};

/// The number of a value; empty without a value.
[[nodiscard]] Cell cell_of(const std::optional<ScalarValue>& value);

/// Why a run has nothing of what was asked for.
struct Lack {
  NothingSelected why;
  bool saved = false;  ///< It was saved, but not as numbers.
};

/// What is known of one run. Short: ten thousand of them are held at once.
struct RunFacts {
  std::string trial;                       ///< Its path.
  std::string run;                         ///< The path below the place in which it was found.
  std::string_view layout = {};            ///< Empty if it cannot be read.
  std::string_view status = "unreadable";  ///< Else that of the job.
  bool awaited = false;                    ///< With --follow: it has no data yet.
  bool ended = false;                      ///< As `Trial::ended`.
  bool over = false;                       ///< It has ended, with a marker or in a store: it is not read again.
  bool rests = false;                      ///< It is read again only once a file changes.
  std::optional<FileTotals> files = {};
  std::size_t steps = 0;
  std::optional<std::int64_t> last_step = {};
  Pace pace = {};
  std::optional<std::int64_t> exit_code = {};  ///< As `Trial::exit_code`.
  std::map<std::string, ScalarFacts> scalars = {};
  std::map<std::string, HpValue> hyperparameters = {};
  std::map<std::string, Lack> lacks = {};  ///< By `-n NAME` or `-c NAME`, else of the whole selection.
  std::uint64_t stamp = 0;                 ///< With `rests`: as `stamp_of`, before it was read; else 0.

  [[nodiscard]] bool readable() const noexcept { return !layout.empty(); }
};

/// While a file is younger, it may be half written, and time alone may change how it is read.
inline constexpr std::chrono::seconds young{120};

/// Reads a run; reports why what cannot be read cannot. `jobs`: threads, as in `TrialOptions`. `grows`: what is half
/// written is awaited.
[[nodiscard]] RunFacts read_run(const std::string& path, std::string run, const RunsOptions& options, unsigned jobs,
                                bool grows, Diagnostics& messages);

/// Prints runs as one table: which scalars and hyperparameters have columns depends on all of them. `may_grow`: columns
/// that there are not may come later, and are left out.
/// @throws UsageError for columns that there are not.
void print_runs(const std::vector<RunFacts>& runs, const RunsOptions& options, bool may_grow, OutputFile& out,
                Diagnostics& messages);

/// Reports what was asked for and is in no run.
void say_missing(const std::vector<RunFacts>& runs, Diagnostics& messages);

/// The columns that every table of runs may have.
[[nodiscard]] std::vector<Column> fixed_columns();

}  // namespace smd::tool::runs
