// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/sorted_chunks.hpp"
#include "layout/payload.hpp"
#include "storage/storage.hpp"
#include "types/outcome.hpp"
#include "types/problem_list.hpp"
#include "wire/event.hpp"

#include <smd/collection.hpp>
#include <smd/limits.hpp>
#include <smd/other_value.hpp>
#include <smd/problem.hpp>
#include <smd/step.hpp>
#include <smd/step_range.hpp>

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

/// How one kind of trial lies in its storage. Nothing above knows the names or the meaning of files.
///
/// A layout answers four questions: what is there, and what is new since (`Layout::look`); whether the trial is over
/// (`Listing::ended`); and how to read an entry (its payload says where it lies, `Layout::record_name` which name its
/// record bears). A layout that knows steps from the names of files alone says so in addition: `NamedSteps`.
namespace smd::detail::layout {

/// What one worker saved at one step into one file. Identifies a row.
struct StepPart {
  std::int64_t step = 0;
  std::uint32_t worker = 0;  ///< Id in `Listing::workers`.
  std::uint64_t id = 0;      ///< Tells the parts of one worker's step apart; means something to the layout alone.

  /// By step, then by ids: an order that stays the same at later looks.
  auto operator<=>(const StepPart&) const = default;
};

/// One row of the catalog.
struct StepRow {
  StepPart file;
  std::int64_t mode_step = 0;
  std::uint32_t payload = no_id;     ///< `no_id`: lists nothing, so makes no step.
  std::uint32_t event_file = no_id;  ///< Where its entries lie: id in `Tables::paths`; `no_id`: `Layout::event_path`.
  Mode mode = Mode::global;
  std::uint32_t index = 0;  ///< Which of the rows that share the payload.
};

/// A row, or several that follow each other: they are `stride` steps apart, their ids and places in the payload go on
/// by one, and all else is equal. What a log holds of a million steps takes a few hundred of these.
struct RowSequence {
  StepRow row;               ///< The first.
  std::uint32_t tables = 0;  ///< Which of `LoadedSteps::tables` their ids mean, until the catalog has them.
  std::uint32_t count = 1;
  std::int64_t stride = 0;  ///< Above 0 if there are several.
  bool seen = false;        ///< An earlier look gave the same values, as rows with other ids.

  [[nodiscard]] std::int64_t step(std::uint32_t i) const noexcept { return row.file.step + i * stride; }
  [[nodiscard]] std::int64_t last_step() const noexcept { return step(count - 1); }
  [[nodiscard]] StepRow nth(std::uint32_t i) const noexcept {
    StepRow one = row;
    one.file.step += i * stride;
    one.file.id += i;
    one.mode_step += i * stride;
    one.index += i;
    return one;
  }
};

/// One after the other.
[[nodiscard]] std::vector<StepRow> rows_of(std::span<const RowSequence> sequences);
/// How many rows they are.
[[nodiscard]] std::size_t count_rows(std::span<const RowSequence> sequences) noexcept;

/// A later value took the place of earlier ones: what the worker's rows with a lower id hold under that name at that
/// step and later ones, in this look or an earlier one, no longer counts.
struct Supersession {
  std::uint32_t tables = 0;  ///< Which of `LoadedSteps::tables` its name means.
  std::uint32_t name = 0;    ///< Id of a stored name.
  std::uint32_t worker = 0;
  std::int64_t from_step = 0;
  std::uint64_t before = 0;  ///< `StepPart::id` of the row that has the later value.
};

/// Rows that were read, with the tables that they refer to.
struct LoadedSteps {
  using Row = RowSequence;
  struct Failure {
    StepPart file;
    Problem problem;
    bool removed = false;  ///< It was listed, and no longer is.
  };
  std::vector<Row> rows;  ///< In the order of `Listing::before`; those that could not be read are missing.
  std::vector<Tables> tables;
  std::vector<Supersession> supersessions;
  std::vector<Failure> failures;                  ///< What could not be read or parsed, in the same order.
  ProblemList notes{limits::problems_per_trial};  ///< Entries refused in what could.
};

/// Steps that the names of files tell without opening any: a talent of some layouts.
struct NamedSteps {
  SortedChunks<StepPart> files;  ///< All ever seen, in the order of `Listing::before`.
  SortedChunks<StepPart> read;   ///< Those of them that were read or found empty, by step and ids.
  std::vector<StepPart> fresh;   ///< Those that the look before did not have, in the order of `files`.
};

/// Found beside tensors.
struct Extras {
  std::vector<OtherValue> others;  ///< As found; at most `limits::other_values`.
  std::uint64_t not_kept = 0;      ///< How many more there were.
  Hyperparameters hyperparameters;
};

/// What a layout knows of a trial after a look: the cursor from which the next look goes on. Each layout derives its
/// own, with what it needs to find what is new. Never changes once it is shared.
class Listing {
 public:
  virtual ~Listing() = default;

  /// By worker id: the worker's name. Later listings share the texts, so views of them stay valid.
  std::vector<std::shared_ptr<const std::string>> workers;
  std::vector<std::uint32_t> worker_rank;  ///< By worker id: its place in the byte order of names.
  /// None: steps are known only by reading, and each that was read is complete.
  std::optional<NamedSteps> named;
  ProblemList notes{limits::problems_per_trial};  ///< What is odd or cannot be read, before any file is opened.
  bool ended = false;                             ///< The job was over before anything else was looked at.
  std::shared_ptr<const Extras> extras;           ///< Null: nothing.

  /// Where a row comes from, for messages: a path relative to the trial.
  [[nodiscard]] virtual std::string path(const StepPart& file) const = 0;
  /// The order of rows: by step, then worker's name, then as the layout has them; the last one of a worker counts.
  [[nodiscard]] bool before(const StepPart& a, const StepPart& b) const {
    return a.step != b.step ? a.step < b.step : before_in_step(a, b);
  }

 protected:
  Listing() = default;
  Listing(const Listing&) = default;
  Listing(Listing&&) noexcept = default;
  Listing& operator=(const Listing&) = default;
  Listing& operator=(Listing&&) noexcept = default;

  /// Adds a worker that is new, without its rank.
  void add_worker(std::string name) { workers.push_back(std::make_shared<const std::string>(std::move(name))); }
  /// Makes `worker_rank` fit `workers`.
  void rank_workers();
  /// The order of different parts of one worker's step.
  [[nodiscard]] virtual bool before_in_worker(const StepPart& a, const StepPart& b) const { return a.id < b.id; }

 private:
  [[nodiscard]] bool before_in_step(const StepPart& a, const StepPart& b) const;
};

/// Collections by name, given or made when they are first asked for: of many tensors that takes longer than all else.
/// Copies share them. Thread-safe.
class CollectionMap {
 public:
  using Map = std::map<std::string, Collection>;

  CollectionMap() = default;
  explicit CollectionMap(Map map) : made_(std::make_shared<Made>()) { made_->map = std::move(map); }
  explicit CollectionMap(std::function<Map()> make) : made_(std::make_shared<Made>()) { made_->make = std::move(make); }

  [[nodiscard]] const Map& operator*() const;
  [[nodiscard]] const Map* operator->() const { return &**this; }

 private:
  struct Made {
    std::once_flag once;
    std::function<Map()> make;
    Map map;
  };
  std::shared_ptr<Made> made_;
};

/// The trial's collections.
struct CollectionsInfo {
  CollectionsInfo() = default;
  CollectionsInfo(const CollectionsInfo&) = default;
  CollectionsInfo& operator=(const CollectionsInfo&) = default;
  virtual ~CollectionsInfo() = default;

  bool found = false;                       ///< The trial says what its collections are.
  std::vector<std::string> workers;         ///< Workers that do, by name.
  std::optional<std::int64_t> num_workers;  ///< As the first of them says.
  CollectionMap collections;                ///< The union over all workers.
  std::vector<Problem> problems;
};

/// Called in the calling thread with how many files of how many were read.
using ReadProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// What a look is asked for.
struct LookRequest {
  /// What to read. A layout that must read everything to know the steps gives all of them; the trial then leaves out
  /// what is not in range.
  std::span<const StepRange> ranges;
  bool ranges_changed = false;  ///< There are more of them than at the look before.
  /// Give all rows again, not only what is new; ids and names of workers stay. Only asked where steps are not named.
  bool everything = false;
  std::size_t incomplete_steps = 0;  ///< How many steps may wait for a worker before the oldest count as complete.
  bool as_it_stands = false;         ///< Nobody waits for more: what is half written is damaged.
  std::chrono::nanoseconds half_written{};  ///< How long a half-written file may stay as it is before it is damaged.
  std::chrono::steady_clock::time_point now;
  unsigned jobs = 1;                            ///< Threads at most.
  const ReadProgress* progress = nullptr;       ///< May be null or empty.
  const std::function<bool()>* stop = nullptr;  ///< Once true, what the look finds will not be used.
};

/// What a look found.
struct Found {
  std::shared_ptr<const Listing> listing;
  /// Shared with the look before if nothing changed. If `found` is not set, nothing else was read.
  std::shared_ptr<const CollectionsInfo> collections;
  LoadedSteps loaded;  ///< What no earlier look gave; of `failures` all that stand now.
  /// Rows that earlier looks gave no longer hold (a restarted job overwrote them, say): `loaded` has all there are.
  bool afresh = false;
  /// The requested ranges, where those that count steps mean certain ones from the first look on.
  std::vector<StepRange> ranges;
  bool news = false;  ///< Something was there that the look before did not have.
  /// When to look again even if nothing changes.
  std::optional<std::chrono::steady_clock::time_point> due;
};

/// Thread-safe; keeps no state between calls: that is in the `Listing`.
class Layout {
 public:
  virtual ~Layout() = default;

  /// As users call it: `debugger`, `tensorboard`, `checkpoints`.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Whether steps have modes; else all are of mode `global`.
  [[nodiscard]] virtual bool has_modes() const noexcept { return true; }
  /// Whether a job marks its end; else nothing but time tells that no more comes.
  [[nodiscard]] virtual bool marks_end() const noexcept { return true; }
  /// Finds and reads what is new since `before`, an earlier look's listing of the same trial with its collections; both
  /// null: everything.
  virtual Outcome<Found> look(storage::Storage& storage, const LookRequest& request, const Listing* before,
                              std::shared_ptr<const CollectionsInfo> collections) const = 0;
  /// Whether the job is over.
  [[nodiscard]] virtual bool ended(storage::Storage& storage) const = 0;
  /// The folder where collections stand, for messages.
  [[nodiscard]] virtual std::string_view collections_place() const noexcept { return {}; }
  /// Folders that hold all files that a job writes before its end, relative to the trial.
  [[nodiscard]] virtual std::span<const std::string_view> folders() const noexcept = 0;
  /// Where a change means that there may be something new.
  [[nodiscard]] virtual storage::WatchScope watched() const = 0;
  /// The name that a record in a file bears, given the stored name in the catalog. Borrowed from that or the layout.
  [[nodiscard]] virtual std::string_view record_name(std::string_view file, std::string_view stored) const noexcept {
    (void)file;
    return stored;
  }
  /// Whether rows name only files that looks have seen: one that is not there any more was removed, and will not come.
  [[nodiscard]] virtual bool rows_name_seen_files() const noexcept { return false; }
  /// What its records may hold.
  [[nodiscard]] virtual wire::ValueKinds value_kinds() const noexcept { return wire::ValueKinds::tensors; }
  /// Reports what stands in the trial's folder and is no part of it. `used`: the files that rows name.
  virtual void check_names(storage::Storage& storage, const std::unordered_set<std::string>& used,
                           const std::function<void(Problem)>& report) const {
    (void)storage;
    (void)used;
    (void)report;
  }

  // Only asked of layouts whose listings have `NamedSteps`, or with rows that have no `event_file`:

  /// Reads some of `NamedSteps::files` with at most `jobs` threads, and takes nothing in.
  [[nodiscard]] virtual LoadedSteps load(storage::Storage& storage, const Listing& listing,
                                         std::span<const StepPart> files, unsigned jobs) const {
    (void)storage;
    (void)listing;
    (void)files;
    (void)jobs;
    return {};
  }
  /// Where the entries of a step file lie if it does not say otherwise.
  [[nodiscard]] virtual std::string event_path(const Listing& listing, const StepPart& file) const {
    (void)listing;
    (void)file;
    return {};
  }
  /// The reverse: step and worker id of a path that `event_path` gives for some step file.
  [[nodiscard]] virtual std::optional<std::pair<std::int64_t, std::uint32_t>> step_of_path(
      const Listing& listing, std::string_view path) const {
    (void)listing;
    (void)path;
    return std::nullopt;
  }
};

/// Workers that a step needs to be complete: as the job said, else as many as wrote anything; at least 1.
[[nodiscard]] std::size_t workers_needed(const CollectionsInfo& collections, const Listing& listing);

/// Step numbers with the number of workers that have a file there, ascending.
using StepCounts = std::vector<std::pair<std::int64_t, std::size_t>>;
[[nodiscard]] StepCounts count_steps(const NamedSteps& named);

}  // namespace smd::detail::layout
